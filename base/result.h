// Result<T>: what can go wrong in a correct program. What a *candidate* did is never an Error; it
// is a Verdict (records/verdict.h).
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace fusefarm {

// Chosen by what the CALLER does about it, not by where it broke.
enum class ErrorCode {
  kInvalidArgument,  // tell the user: input, config or model is wrong (exit code 2)
  kNotFound,         // tell the user: the thing named does not exist (exit code 2)
  kUnsupported,      // tell the user: understood, but not something we do (exit code 2)
  kUnavailable,      // retry later: peer, device or lock is taken (exit code 3)
  kIntegrity,        // stop: stored data contradicts itself or is corrupt (exit code 4)
  kExhausted,        // stop granting work: disk, memory or quota is used up (exit code 70)
  kEnvironment,      // the host lacks something: compiler, sandbox layer, device (exit code 70)
  kCancelled,        // asked to stop; resumable (exit code 5)
  kInternal,         // our bug (exit code 70)
};

const char* to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // names the thing (file, key, id), the value and the remedy

  // The same error, its message prefixed: "while importing x.json: <message>".
  [[nodiscard]] Error with_context(const std::string& context) const {
    return Error{code, context + ": " + message};
  }
};

namespace internal {
[[noreturn]] void result_misused(const char* what);
}  // namespace internal

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }

  explicit operator bool() const { return ok(); }

  const Error& error() const {
    if (ok()) {
      internal::result_misused("error() of a Result that holds a value");
    }
    return error_;
  }

  T& value() & { return *checked(); }

  const T& value() const& { return *const_cast<Result*>(this)->checked(); }

  T& operator*() & { return *checked(); }

  const T& operator*() const& { return *const_cast<Result*>(this)->checked(); }

  T* operator->() { return checked(); }

  const T* operator->() const { return const_cast<Result*>(this)->checked(); }

  T take() { return std::move(*checked()); }

  T value_or(T other) const { return ok() ? *value_ : std::move(other); }

 private:
  T* checked() {
    if (!ok()) {
      internal::result_misused(error_.message.c_str());
    }
    return &*value_;
  }

  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;

  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }

  explicit operator bool() const { return ok(); }

  const Error& error() const {
    if (ok()) {
      internal::result_misused("error() of a Result that holds a value");
    }
    return *error_;
  }

  void take() {
    if (!ok()) {
      internal::result_misused(error_->message.c_str());
    }
  }

 private:
  std::optional<Error> error_;
};

}  // namespace fusefarm

// TRY(expr): the value of a Result, or return its error from this function. A GNU statement
// expression, which both compilers we build with support. The counter keeps nested uses apart.
#define FUSEFARM_TRY_NAMED(name, expr)   \
  __extension__({                        \
    auto name = (expr);                  \
    if (!name.ok()) return name.error(); \
    name.take();                         \
  })
#define FUSEFARM_TRY_JOIN(a, b) a##b
#define FUSEFARM_TRY_NUMBERED(number, expr) \
  FUSEFARM_TRY_NAMED(FUSEFARM_TRY_JOIN(fusefarm_try_, number), expr)
#define FUSEFARM_TRY(expr) FUSEFARM_TRY_NUMBERED(__COUNTER__, expr)

#ifndef TRY
#define TRY(expr) FUSEFARM_TRY(expr)
#endif
