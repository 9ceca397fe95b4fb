/* Runs what host.c saved, without MLIR or NVRTC: libswage_runtime is all it takes.

     cc bundle.c $(pkg-config --cflags --libs swage-runtime) -o bundle
     ./bundle norm.swage             on a GPU
     ./bundle norm.swage simulator   where host.c ran on the simulator */
#include <stdio.h>
#include <stdlib.h>
#include <swage-c/Swage.h>

enum { ROWS = 4, COLUMNS = 768 };

/* Ends the program if there is an error. */
static void check(SwageError error) {
  if (!swageIsError(error))
    return;
  fprintf(stderr, "%s\n", swageErrorGetText(error).data);
  swageErrorDestroy(error);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: bundle FILE [simulator]\n");
    return 2;
  }
  SwageDevice device;
  if (argc > 2)
    check(swageDeviceOpenSimulator(swageStringRef(""), swageStringRef(""), &device));
  else
    check(swageDeviceOpen(0, &device));
  SwageProgram program;
  check(swageProgramLoad(swageProcessContext(), swageStringRef(argv[1]), &program));

  /* A plan is made once for its shapes; a launch is then no more than its kernels. */
  const int64_t extents[] = {ROWS, COLUMNS};
  const SwageShape shapes[] = {{extents, 2}, {extents, 2}};
  SwagePlan plan;
  check(swageProgramPlan(program, device, shapes, 2, NULL, &plan));

  static float x[ROWS][COLUMNS], y[ROWS][COLUMNS];
  for (int row = 0; row < ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column)
      x[row][column] = column % 2 ? 3.0f : 1.0f;
  void *input, *output;
  check(swageDeviceAllocate(device, sizeof x, &input));
  check(swageDeviceAllocate(device, sizeof y, &output));
  check(swageDeviceCopyToDevice(device, input, x, sizeof x));

  SwageStream stream;
  check(swageDeviceCreateStream(device, &stream));
  const void *inputs[] = {input, input}; /* the sum of x and x */
  check(swagePlanLaunch(plan, stream, inputs, 2, &output, 1, NULL));
  check(swageDeviceSynchronizeStream(device, stream));
  check(swageDeviceCopyToHost(device, y, output, sizeof y));
  printf("%.4f %.4f\n", y[ROWS - 1][0], y[ROWS - 1][1]);

  check(swageDeviceDestroyStream(device, stream));
  check(swageDeviceFree(device, input));
  check(swageDeviceFree(device, output));
  swagePlanDestroy(plan);
  swageProgramDestroy(program);
  swageDeviceDestroy(device);
  return 0;
}
