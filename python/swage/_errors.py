"""The package's one exception."""


class Error(RuntimeError):
    """What went wrong: the value found and the value needed.

    stage        "input", "parse", "verify", "lower", "compile", "cache", "load", "launch" or "run"
    message      one line
    log          what a compiler printed, or ""
    source_path  where the failing source was written, or ""
    reproduce    a command line that shows the failure again, or ""

    `str(error)` is all of it.
    """

    def __init__(self, message, stage="input", log="", source_path="", reproduce="", text=None):
        super().__init__(text if text is not None else f"{stage} error: {message}")
        self.message = message
        self.stage = stage
        self.log = log
        self.source_path = source_path
        self.reproduce = reproduce

    def __reduce__(self):
        return type(self), (self.message, self.stage, self.log, self.source_path, self.reproduce, str(self))
