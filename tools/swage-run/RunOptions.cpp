//===- RunOptions.cpp - The command line of swage-run ---------------------===//
#include "RunOptions.h"

namespace cl = llvm::cl;

namespace swage::options {

cl::OptionCategory category("swage-run options");
cl::opt<std::string> inputFile(cl::Positional, cl::Required, cl::desc("<model.mlir>"),
                               cl::cat(category));
cl::opt<std::string> entryName("entry", cl::desc("function to run"), cl::init("main"),
                               cl::cat(category));
cl::opt<std::string> deviceName("device",
                                cl::desc("gpu; sim: the simulator; reference: no kernels, "
                                         "what the f64 reference gives; none: compile only; "
                                         "default: gpu where there is one, else sim"),
                                cl::cat(category));
cl::opt<std::string> simText("sim",
                             cl::desc("how the simulator runs: "
                                      "order=forward|reverse|random, "
                                      "async=eager|late|random, check, strict, seed=N, "
                                      "workers=N, with commas between"),
                             cl::cat(category));
cl::list<std::string> npyFiles("input",
                               cl::desc("a .npy file for the next argument; repeat for "
                                        "each argument"),
                               cl::cat(category));
cl::opt<uint64_t> seed("seed", cl::desc("of the inputs"), cl::init(1), cl::cat(category));
cl::opt<std::string> inputKind("inputs",
                               cl::desc("random (default): mean 0, variance 1; exact: small "
                                        "integers; nasty: each family of awkward values"),
                               cl::init("random"), cl::cat(category));
cl::opt<std::string> dimsText("dims",
                              cl::desc("extents of dynamic arguments: '8,128;8,128', one "
                                       "list an argument, empty where static"),
                              cl::cat(category));
cl::opt<bool> check("check", cl::desc("judge every result against the f64 reference"),
                    cl::cat(category));
cl::opt<unsigned> steps("steps",
                        cl::desc("run this often; results with swage.alias are arguments "
                                 "of the next step, the others are new ones (default 1)"),
                        cl::init(1), cl::cat(category));
cl::opt<bool> benchmark("benchmark", cl::desc("time every kernel"), cl::cat(category));
cl::opt<bool> autotune("autotune",
                       cl::desc("try the schedules of each kernel, print the fastest, and "
                                "keep what is faster and right for later compiles "
                                "(SWAGE_TUNED)"),
                       cl::cat(category));
cl::opt<double> budget("budget",
                       cl::desc("seconds that --autotune has for each kernel "
                                "(default 12; 0: until all have been tried)"),
                       cl::init(12), cl::cat(category));
cl::opt<bool> fuse("fuse", cl::desc("group ops; otherwise one kernel an op"), cl::init(true),
                   cl::cat(category));
cl::opt<bool> remarks("remarks", cl::desc("print what the passes decided and why"),
                      cl::cat(category));
cl::opt<std::string> dumpText("dump",
                              cl::desc("DIR or DIR:what,what for IR after each pass, CUDA, "
                                       "PTX, cubins, SASS, logs and launch descriptions "
                                       "(ir, cuda, ptx, cubin, sass, log, launch); "
                                       "default: SWAGE_DUMP"),
                              cl::cat(category));
cl::opt<std::string> jsonFile("json", cl::desc("file for the measurements"), cl::cat(category));
cl::opt<std::string> arch("arch", cl::desc("sm_90a, ...; default: the GPU's, else sm_90a"),
                          cl::cat(category));
cl::opt<int64_t> alignment("align",
                           cl::desc("alignment in bytes that kernels may expect of "
                                    "arguments (default 16)"),
                           cl::init(0), cl::cat(category));
cl::opt<int64_t> offset("offset", cl::desc("bytes added to every address"), cl::init(0),
                        cl::cat(category));
cl::opt<std::string> outputDir("save-outputs", cl::desc("directory for results as .npy"),
                               cl::cat(category));

} // namespace swage::options
