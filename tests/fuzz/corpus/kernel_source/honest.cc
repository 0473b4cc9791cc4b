extern "C" void entry(const FfArgs* a, long b) {
  static const int k[2] = {1, 2};
  ((float*)a->tensors[0].data)[b] = k[b & 1];
}
