// Tables, views and how older files become current ones. Internal to store.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "store/database.h"

namespace fusefarm::store {

constexpr std::int64_t kApplicationId = 0x46464D31;  // "FFM1", in the file's header

// Forward only, numbered from 1 by position; released ones never change.
struct Migration {
  const char* what;
  const char* sql;
};

std::span<const Migration> migrations();

inline std::int64_t schema_version() { return static_cast<std::int64_t>(migrations().size()); }

// Refuses what is not a store of this version or an older one (kIntegrity).
Result<void> check_identity(Database& database, std::int64_t version_max);

// Brings a new or older file to the last of `steps`, each in one transaction. An older file is
// copied to "<path>.v<version>.bak" first.
Result<void> migrate(Database& database, std::span<const Migration> steps);

}  // namespace fusefarm::store
