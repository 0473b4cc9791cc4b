#include "store/samples.h"

#include <gtest/gtest.h>

#include "records/measurement_json.h"
#include "tests/store/store_fixture.h"

namespace fusefarm::store {
namespace {

TEST(SamplesTest, PackedSamplesComeBackExactly) {
  const PairedMeasurement measurement = sample_measurement("confirm");
  const Result<PairedMeasurement> read = unpack_samples(pack_samples(measurement), "confirm");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(measurement));
}

TEST(SamplesTest, AQuadOfShortTimesTakes33Bytes) {
  PairedMeasurement measurement = sample_measurement("screen");
  measurement.blocks.resize(1);
  const std::size_t before = pack_samples(measurement).size();
  measurement.blocks[0].quads.push_back(measurement.blocks[0].quads[0]);
  EXPECT_EQ(pack_samples(measurement).size() - before, 33U);
}

TEST(SamplesTest, EveryTruncationAndAnExtraByteAreDamage) {
  const std::string blob = pack_samples(sample_measurement("screen"));
  for (std::size_t size = 0; size < blob.size(); ++size) {
    const Result<PairedMeasurement> read = unpack_samples(blob.substr(0, size), "screen");
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_EQ(read.error().code, ErrorCode::kIntegrity);
  }
  EXPECT_FALSE(unpack_samples(blob + "x", "screen").ok());
}

TEST(SamplesTest, AHugeCountInADamagedBlobDoesNotAllocate) {
  std::string blob = pack_samples({"s", {}});
  blob[1] = blob[2] = blob[3] = blob[4] = '\xff';
  EXPECT_FALSE(unpack_samples(blob, "s").ok());
}

}  // namespace
}  // namespace fusefarm::store
