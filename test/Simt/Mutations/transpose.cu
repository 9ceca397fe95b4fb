// y = the transpose of x, rows x columns, through a padded tile of shared memory.
#include "swage/device/device.cuh"

namespace {
constexpr int kTile = 32, kPitch = kTile + 1, kThreads = 256, kStep = kThreads / kTile;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    transpose(const float *x, float *y, int rows, int columns) {
  float *tile = reinterpret_cast<float *>(swage::arena<4 * kTile * kPitch>());
  const int across = static_cast<int>(swage::threadIndex()) % kTile;
  const int down = static_cast<int>(swage::threadIndex()) / kTile;
  const int tiles = (columns + kTile - 1) / kTile;
  const int firstRow = static_cast<int>(swage::blockIndex()) / tiles * kTile;
  const int firstColumn = static_cast<int>(swage::blockIndex()) % tiles * kTile;
  for (int i = down; i < kTile; i += kStep) {
    const int row = firstRow + i, column = firstColumn + across;
    if (row < rows && column < columns)
      tile[i * kPitch + across] = x[row * columns + column];
  }
  swage::barrier();
  for (int i = down; i < kTile; i += kStep) {
    const int row = firstColumn + i, column = firstRow + across;
    if (row < columns && column < rows)
      y[row * rows + column] = tile[across * kPitch + i];
  }
}
