//===- Trace.cpp - Events for people --------------------------------------===//

#include "swage/Runtime/Trace.h"
#include "ContextState.h"
#include "Nvtx.h"
#include "Process.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

using namespace swage;

const char *swage::eventName(TraceEvent::Kind kind) {
  switch (kind) {
  case TraceEvent::Kind::Parse:
    return "parse";
  case TraceEvent::Kind::Lower:
    return "lower";
  case TraceEvent::Kind::Compile:
    return "compile";
  case TraceEvent::Kind::CacheHit:
    return "cache hit";
  case TraceEvent::Kind::Load:
    return "load";
  case TraceEvent::Kind::Variant:
    return "variant";
  case TraceEvent::Kind::Plan:
    return "plan";
  case TraceEvent::Kind::Evict:
    return "evict";
  case TraceEvent::Kind::Progress:
    return "progress";
  case TraceEvent::Kind::VariantHit:
    return "variant hit";
  }
  return "unknown";
}

static void printOnStderr(const std::string &line) {
  // One call for the whole line, so that those of several threads do not mix.
  std::string text = fmt::format("swage: {}\n", line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// A JSON string; what is no plain character is written as in messages.
static std::string jsonString(std::string_view text) {
  std::string quoted = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

static double microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

static std::string jsonOf(const TraceEvent &event) {
  std::string json = fmt::format(R"({{"name":{},"cat":"{}","pid":{},"tid":{},"ts":{:.3f},)",
                                 jsonString(event.name), eventName(event.kind), getpid(),
                                 event.thread, microseconds(event.begin.time_since_epoch()));
  if (event.end > event.begin)
    json += fmt::format(R"("ph":"X","dur":{:.3f},)", microseconds(event.end - event.begin));
  else
    json += R"("ph":"i","s":"t",)";
  std::string arguments;
  for (auto [name, value] : {std::pair("detail", &event.detail), {"reason", &event.reason}})
    if (!value->empty())
      arguments +=
          fmt::format("{}\"{}\":{}", arguments.empty() ? "" : ",", name, jsonString(*value));
  return json + fmt::format(R"("args":{{{}}}}})", arguments);
}

namespace {
/// The format allows for the closing bracket to be missing, so that the file is one at any time;
/// an event is one write, at its end.
class TraceFile {
public:
  TraceFile(std::string path, PrintLine warn) : path(std::move(path)), warn(std::move(warn)) {
    open();
  }
  ~TraceFile() { finish(); }

  void add(const TraceEvent &event) { append(jsonOf(event)); }
  void finish();

  const std::string path;

private:
  void open();
  void append(const std::string &json);
  bool write(const std::string &text);
  void fail(const char *why);

  const PrintLine warn;
  std::mutex mutex;
  /// Of the process that opened it: a child that was forked leaves the file alone.
  const unsigned generation = processGeneration();
  int file = -1;
  off_t size = 0;
};

/// Every file that is open, to be finished at exit.
struct TraceFiles {
  std::mutex mutex;
  std::vector<std::weak_ptr<TraceFile>> files;
  const unsigned generation = processGeneration();

  static TraceFiles &all();
  std::shared_ptr<TraceFile> open(const std::string &path, PrintLine warn);
  void finish();
};
} // namespace

void TraceFile::fail(const char *why) {
  warn(fmt::format("cannot write the trace into '{}': {}", printable(path), why));
  if (file >= 0)
    ::close(file);
  file = -1;
}

void TraceFile::open() {
  // Non-blocking: a FIFO must not hold the program.
  file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
  if (file < 0)
    return fail(std::strerror(errno));
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    return fail("it is no plain file");
  if (ftruncate(file, 0) != 0)
    return fail(std::strerror(errno));
  if (!write(fmt::format("[\n"
                         R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})",
                         getpid(), jsonString(program_invocation_short_name))))
    fail(std::strerror(errno));
}

bool TraceFile::write(const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    errno = 0;
    ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      // Half an event would make the others unreadable.
      int error = errno;
      (void)!ftruncate(file, size);
      errno = error;
      return false;
    }
    done += size_t(count);
  }
  size += off_t(text.size());
  return true;
}

// In a child that was forked the locks may be held for ever.

void TraceFile::append(const std::string &json) {
  if (generation != processGeneration())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (file >= 0 && !write(",\n" + json))
    fail(std::strerror(errno));
}

void TraceFile::finish() {
  if (generation != processGeneration())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (file < 0)
    return;
  (void)write("\n]\n");
  ::close(file);
  file = -1;
}

/// Leaked: contexts may report while statics are destroyed.  A child that was forked has its own.
TraceFiles &TraceFiles::all() {
  static std::atomic<TraceFiles *> current{nullptr};
  TraceFiles *files = current.load();
  while (!files || files->generation != processGeneration()) {
    auto *fresh = new TraceFiles();
    if (current.compare_exchange_strong(files, fresh))
      return *fresh;
    delete fresh;
  }
  return *files;
}

std::shared_ptr<TraceFile> TraceFiles::open(const std::string &path, PrintLine warn) {
  std::lock_guard<std::mutex> lock(mutex);
  static const int registered = std::atexit([] { all().finish(); });
  (void)registered;
  for (const std::weak_ptr<TraceFile> &known : files)
    if (std::shared_ptr<TraceFile> file = known.lock(); file && file->path == path)
      return file;
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const std::weak_ptr<TraceFile> &file) { return file.expired(); }),
              files.end());
  auto file = std::make_shared<TraceFile>(path, std::move(warn));
  files.push_back(file);
  return file;
}

void TraceFiles::finish() {
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::weak_ptr<TraceFile> &known : files)
    if (std::shared_ptr<TraceFile> file = known.lock())
      file->finish();
}

EventSink swage::traceFileSink(const std::string &path, PrintLine warn) {
  std::string actual = path;
  for (size_t at; (at = actual.find("%p")) != actual.npos;)
    actual.replace(at, 2, std::to_string(getpid()));
  std::shared_ptr<TraceFile> file =
      TraceFiles::all().open(actual, warn ? std::move(warn) : printOnStderr);
  return [file](const TraceEvent &event) { file->add(event); };
}

//===----------------------------------------------------------------------===//
// Notices
//===----------------------------------------------------------------------===//

namespace {
struct Notices {
  std::string cacheDirectory;
  PrintLine print;

  std::mutex mutex;
  unsigned inARow = 0;
  double milliseconds = 0;
  bool toldOfRow = false, toldWhatToDo = false;

  void add(const TraceEvent &event);
  std::string advice();
};
} // namespace

/// Once; later lines are short.
std::string Notices::advice() {
  if (std::exchange(toldWhatToDo, true))
    return "";
  return fmt::format("; warmup compiles ahead of the first call, and {} (SWAGE_NOTICES=off: no "
                     "such lines)",
                     cacheDirectory.empty()
                         ? "with a kernel cache (SWAGE_CACHE_DIR) the next process would find it"
                         : fmt::format("the next process finds it in '{}'", cacheDirectory));
}

void Notices::add(const TraceEvent &event) {
  std::string line;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (event.kind == TraceEvent::Kind::CacheHit)
      inARow = 0, milliseconds = 0;
    if (event.kind != TraceEvent::Kind::Compile)
      return;
    ++inARow;
    milliseconds += event.milliseconds();
    if (event.milliseconds() > 1000) {
      line =
          fmt::format("compiling kernel {} took {:.1f} s{}{}", printable(event.name),
                      event.milliseconds() / 1000,
                      event.reason.empty() ? "" : " (" + printable(event.reason) + ")", advice());
    } else if (inARow > 8 && !toldOfRow) {
      toldOfRow = true;
      line = fmt::format("{} kernels in a row had to be compiled, for {:.1f} s in all{}", inARow,
                         milliseconds / 1000, advice());
    }
  }
  if (!line.empty())
    print(line);
}

EventSink swage::noticeSink(std::string cacheDirectory, PrintLine print) {
  auto notices = std::make_shared<Notices>();
  notices->cacheDirectory = printable(cacheDirectory);
  notices->print = print ? std::move(print) : printOnStderr;
  return [notices](const TraceEvent &event) { notices->add(event); };
}

/// Each of them once in a process, however many contexts it makes.
static void printWarnings(const Options &environment) {
  static std::mutex mutex;
  static auto *printed = new std::vector<std::string>();
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::string &warning : environment.warnings) {
    if (std::find(printed->begin(), printed->end(), warning) != printed->end())
      continue;
    printed->push_back(warning);
    printOnStderr("warning: " + warning);
  }
}

EventSink swage::environmentSink(const ContextOptions &options) {
  const Options &environment = options.environment;
  if (!options.events && environment.notices)
    printWarnings(environment);
  EventSink notices, trace;
  if (!options.events && environment.notices)
    notices = noticeSink(environment.cacheMode != CacheMode::ReadWrite ? ""
                         : options.cache                               ? options.cache->directory()
                                                                       : environment.cacheDir);
  if (!environment.traceFile.empty())
    trace = traceFileSink(environment.traceFile);
  if (!notices || !trace)
    return notices ? notices : trace;
  return [notices, trace](const TraceEvent &event) {
    notices(event);
    trace(event);
  };
}

//===----------------------------------------------------------------------===//
// Spans
//===----------------------------------------------------------------------===//

TraceSpan::TraceSpan(const Context &context, TraceEvent::Kind kind, std::string name,
                     std::string detail, std::string reason)
    : context(context) {
  beginNvtxRange(eventName(kind), name);
  event.kind = kind;
  event.name = std::move(name);
  event.detail = std::move(detail);
  event.reason = std::move(reason);
  event.thread = threadNumber();
  event.begin = std::chrono::steady_clock::now();
}

TraceSpan::~TraceSpan() {
  event.end = std::chrono::steady_clock::now();
  endNvtxRange();
  if (!cancelled)
    context.report(event);
}
