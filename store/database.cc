#include "store/database.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace fusefarm::store {
namespace {

constexpr int kBusyTimeoutMs = 5000;

int primary(int code) { return code & 0xff; }

// SQLite's URI form of a path.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

Result<void> configure(Database& database, Database::Mode mode) {
  // docs/store.md gives the reason of each setting.
  TRY(
      database.execute("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                       "PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0;"));
  if (mode != Database::Mode::kReadWrite) {
    TRY(database.execute("PRAGMA query_only=ON;"));
    return {};
  }
  TRY(
      database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                       "PRAGMA journal_size_limit=67108864; PRAGMA wal_autocheckpoint=1000;"
                       "PRAGMA cache_size=-16384;"));
  return {};
}

}  // namespace

Error sqlite_error(int code, int system_errno, const std::string& message,
                   const std::string& path) {
  const std::string what = "history database " + path + ": " + message;
  const bool no_space = system_errno == ENOSPC || system_errno == EDQUOT;
  switch (primary(code)) {
    case SQLITE_FULL:
      return {ErrorCode::kExhausted,
              what + "; free space on that file system and run the same command again"};
    case SQLITE_NOMEM:
      return {ErrorCode::kExhausted, what + "; free memory and run again"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kUnavailable, what + "; another process holds it, try again"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::kIntegrity,
              what + "; move the file away or restore a backup, its content can't be trusted"};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {no_space ? ErrorCode::kExhausted : ErrorCode::kInvalidArgument,
              what + "; the folder and the file must be writable, or choose another store.path"};
    case SQLITE_IOERR:
      if (no_space) {
        return {ErrorCode::kExhausted,
                what + "; free space on that file system and run the same command again"};
      }
      return {ErrorCode::kEnvironment,
              what + " (" + std::strerror(system_errno) + "); check the disk it lies on"};
    default:
      return {ErrorCode::kInternal, what};
  }
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      statement_(std::exchange(other.statement_, nullptr)),
      path_(std::move(other.path_)),
      next_(other.next_),
      problem_(other.problem_) {}

Statement::~Statement() {
  if (statement_ == nullptr) {
    return;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::note(int code) {
  ++next_;
  if (code != SQLITE_OK && problem_ == SQLITE_OK) {
    problem_ = code;
  }
}

Statement& Statement::bind(std::int64_t value) {
  note(sqlite3_bind_int64(statement_, next_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  note(sqlite3_bind_double(statement_, next_, value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  note(sqlite3_bind_text64(statement_, next_, text.data() == nullptr ? "" : text.data(),
                           text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(const Digest& digest) {
  note(sqlite3_bind_blob64(statement_, next_, digest.bytes.data(), digest.bytes.size(),
                           SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  note(sqlite3_bind_blob64(statement_, next_, bytes.data() == nullptr ? "" : bytes.data(),
                           bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null() {
  note(sqlite3_bind_null(statement_, next_));
  return *this;
}

Result<bool> Statement::step() {
  const int code = problem_ != SQLITE_OK ? problem_ : sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    return false;
  }
  const char* message =
      problem_ != SQLITE_OK ? sqlite3_errstr(problem_) : sqlite3_errmsg(connection_);
  return sqlite_error(code, sqlite3_system_errno(connection_), message, path_);
}

Result<void> Statement::run() {
  while (TRY(step())) {
  }
  return {};
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr || size <= 0) {
    return {};
  }
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Digest Statement::digest(int column) const {
  Digest digest;
  const std::string bytes = text(column);
  if (bytes.size() == digest.bytes.size()) {
    std::memcpy(digest.bytes.data(), bytes.data(), bytes.size());
  }
  return digest;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX;
  flags |=
      mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (mode == Mode::kImmutable) {
    flags |= SQLITE_OPEN_URI;
  }
  const std::string name = mode == Mode::kImmutable ? immutable_uri(path) : path;
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
  if (connection == nullptr) {
    return sqlite_error(SQLITE_NOMEM, 0, "out of memory", path);
  }
  std::unique_ptr<Database> database(std::make_unique<Database>(Database(path, connection)));
  if (code != SQLITE_OK) {
    return database->error("");
  }
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  if (mode != Mode::kReadWrite) {
    // Only the owner checkpoints (the WAL-reset bug, docs/store.md).
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  TRY(configure(*database, mode));
  return database;
}

Error Database::error(const std::string& what) const {
  const std::string message = sqlite3_errmsg(connection_.get());
  return sqlite_error(sqlite3_extended_errcode(connection_.get()),
                      sqlite3_system_errno(connection_.get()),
                      what.empty() ? message : what + ": " + message, path_);
}

Result<Statement> Database::prepare(const char* sql) {
  auto& cached = statements_[sql];
  if (cached == nullptr) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(connection_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
    if (code != SQLITE_OK) {
      return error("");
    }
    cached.reset(statement);
  }
  FUSEFARM_CHECK(sqlite3_stmt_busy(cached.get()) == 0, sql);
  return Statement(connection_.get(), cached.get(), path_);
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error("");
  }
  return {};
}

Result<std::int64_t> Database::integer(const char* sql) {
  Statement statement = TRY(prepare(sql));
  const bool found = TRY(statement.step());
  return found ? statement.integer(0) : 0;
}

Result<Transaction> Transaction::begin(Database& database) {
  TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  if (database_ == nullptr) {
    return;
  }
  // Some errors have rolled back already; that this one then fails is of no consequence.
  const Result<void> rolled_back = database_->execute("ROLLBACK");
  static_cast<void>(rolled_back.ok());
}

Result<void> Transaction::commit() {
  TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace fusefarm::store
