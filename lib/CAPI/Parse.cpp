//===- Parse.cpp - From text, where the compiler is -----------------------===//

#include "Wrap.h"

using namespace swage;
using namespace swage::capi;

SwageError swageProgramParse(SwageContext context, SwageStringRef text,
                             const SwageParseOptions *options, SwageProgram *program) {
  if (!program)
    return isNull("program");
  program->ptr = nullptr;
  if (!context.ptr)
    return isNull("context");
  auto read = readOptions(options, "SwageParseOptions");
  if (!read)
    return fail(read.takeError());
  ParseOptions parse;
  if (std::string_view filename = unwrap(read->filename); !filename.empty())
    parse.filename = filename;
  if (std::string_view entry = unwrap(read->entry); !entry.empty())
    parse.entry = entry;
  return finish(Program::parse(unwrap(text), parse, unwrap(context)->context), program);
}
