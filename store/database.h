// One SQLite connection and its prepared statements; the only code that turns SQLite's result codes
// into Errors. Internal to store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/digest.h"
#include "base/result.h"

namespace fusefarm::store {

// A statement in use: bound, stepped, and reset when it goes out of scope, so that it can be used
// again. Bind problems are reported by the next step().
class Statement {
 public:
  Statement(sqlite3* connection, sqlite3_stmt* statement, std::string path)
      : connection_(connection), statement_(statement), path_(std::move(path)) {}

  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) = delete;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // In the order of the placeholders.
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind(const Digest& digest);
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();

  Result<bool> step();  // true: a row is ready
  Result<void> run();   // to its end

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;  // of a blob, too
  bool is_null(int column) const;
  Digest digest(int column) const;  // zero when the column does not hold 32 bytes

 private:
  void note(int code);

  sqlite3* connection_;
  sqlite3_stmt* statement_;
  std::string path_;
  int next_ = 1;
  int problem_ = SQLITE_OK;
};

// Not thread-safe: each thread has its own, or there is a lock around it.
class Database {
 public:
  // kImmutable: read-only, and sure that nobody writes; needs no files beside it.
  enum class Mode { kReadOnly, kImmutable, kReadWrite };
  // Opens with the settings of docs/store.md; kReadWrite creates the file. Does not look at the
  // schema.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Mode mode);

  // Cached by the address of `sql`, so only for literals.
  Result<Statement> prepare(const char* sql);
  // One or more statements without results, not cached.
  Result<void> execute(const std::string& sql);
  Result<std::int64_t> integer(const char* sql);

  const std::string& path() const { return path_; }

  Error error(const std::string& what) const;  // of the last call that failed

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  Database(std::string path, sqlite3* connection)
      : path_(std::move(path)), connection_(connection) {}

  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// BEGIN IMMEDIATE ... COMMIT; rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);

  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}

  Database* database_;
};

// What an SQLite result code means to a user of the file at `path`.
Error sqlite_error(int code, int system_errno, const std::string& message, const std::string& path);

}  // namespace fusefarm::store
