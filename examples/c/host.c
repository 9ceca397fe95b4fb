/* Swage inside of a C program: a residual sum and its LayerNorm as one kernel, for any number of
   rows.

     export PKG_CONFIG_PATH=<prefix>/lib/pkgconfig LD_LIBRARY_PATH=<prefix>/lib
     cc host.c $(pkg-config --cflags --libs swage) -o host
     ./host               runs it, on the simulator where there is no GPU
     ./host norm.swage    and saves the kernels, for bundle.c */
#include <stdio.h>
#include <stdlib.h>
#include <swage-c/Swage.h>

enum { ROWS = 4, COLUMNS = 768 };

static const char graph[] =
    "func.func @main(%x: tensor<?x768xf32>, %r: tensor<?x768xf32>) -> tensor<?x768xf32> {\n"
    "  %s = arith.addf %x, %r : tensor<?x768xf32>\n"
    "  %y = swage.layer_norm %s axis 1 eps 1.0e-5 : (tensor<?x768xf32>) -> tensor<?x768xf32>\n"
    "  return %y : tensor<?x768xf32>\n"
    "}\n";

/* Ends the program if there is an error. */
static void check(SwageError error) {
  if (!swageIsError(error))
    return;
  fprintf(stderr, "%s\n", swageErrorGetText(error).data);
  swageErrorDestroy(error);
  exit(1);
}

static SwageDevice openDevice(void) {
  SwageDevice device;
  SwageError error = swageDeviceOpen(0, &device);
  if (swageIsError(error)) {
    fprintf(stderr, "on the simulator: %s\n", swageErrorGetMessage(error).data);
    swageErrorDestroy(error);
    check(swageDeviceOpenSimulator(swageStringRef(""), swageStringRef(""), &device));
  }
  return device;
}

int main(int argc, char **argv) {
  SwageDevice device = openDevice();
  SwageDeviceProperties properties = {.size = sizeof properties};
  check(swageDeviceGetProperties(device, &properties));

  SwageContextOptions options = {.size = sizeof options, .simulator = properties.isSimulator};
  SwageContext context;
  check(swageContextCreate(&options, &context));
  SwageProgram program;
  check(swageProgramParse(context, swageStringRef(graph), NULL, &program));

  /* Rows of 1 and 3 in turn, plus nothing: normalised, -1 and 1. */
  static float x[ROWS][COLUMNS], r[ROWS][COLUMNS], y[ROWS][COLUMNS];
  for (int row = 0; row < ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column)
      x[row][column] = column % 2 ? 3.0f : 1.0f;

  const int64_t shape[] = {ROWS, COLUMNS};
  SwageTensor inputs[2], output;
  float(*const host[])[COLUMNS] = {x, r};
  for (int i = 0; i < 2; ++i) {
    inputs[i] = (SwageTensor){.elementType = SwageElementF32, .rank = 2, .shape = shape};
    check(swageDeviceAllocate(device, sizeof x, &inputs[i].data));
    check(swageDeviceCopyToDevice(device, inputs[i].data, host[i], sizeof x));
  }
  output = inputs[0];
  check(swageDeviceAllocate(device, sizeof y, &output.data));

  SwageStream stream;
  check(swageDeviceCreateStream(device, &stream));
  /* This graph needs no workspace; see swageProgramGetWorkspaceBytes for one that does. */
  check(swageProgramRun(program, device, stream, inputs, 2, &output, 1, NULL, 0));
  check(swageDeviceSynchronizeStream(device, stream));
  check(swageDeviceCopyToHost(device, y, output.data, sizeof y));
  printf("%s: %.4f %.4f\n", properties.name.data, y[ROWS - 1][0], y[ROWS - 1][1]);

  if (argc > 1) {
    const SwageShape shapes[] = {{shape, 2}, {shape, 2}};
    check(swageProgramSave(program, swageStringRef(argv[1]), &properties.arch, 1, shapes, 1));
    printf("saved %s for %s\n", argv[1], properties.arch.data);
  }

  check(swageDeviceDestroyStream(device, stream));
  for (int i = 0; i < 2; ++i)
    check(swageDeviceFree(device, inputs[i].data));
  check(swageDeviceFree(device, output.data));
  swageProgramDestroy(program);
  swageContextDestroy(context);
  swageDeviceDestroy(device);
  return 0;
}
