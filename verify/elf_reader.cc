#include <algorithm>
#include <cstring>
#include <optional>

#include <elf.h>

#include "verify/elf_check.h"

namespace fusefarm::verify {
namespace {

Error malformed(const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, "not a usable ELF object: " + what};
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {}

  Result<ElfSummary> run();

 private:
  // A struct at a file offset; false when it is not wholly inside.
  template <class T>
  bool read(std::uint64_t offset, T& into) const {
    if (offset > file_.size() || sizeof(T) > file_.size() - offset) {
      return false;
    }
    std::memcpy(&into, file_.data() + offset, sizeof(T));
    return true;
  }

  Result<void> read_segments();
  Result<void> read_dynamic();
  Result<void> read_symbols();
  Result<void> read_relocations(std::uint64_t address, std::uint64_t bytes);
  void count_writable();
  // File offset of a virtual address inside a load segment, or nothing.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  Result<std::string> text_at(std::uint64_t index) const;
  Result<std::uint64_t> symbol_count() const;

  std::span<const std::byte> file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::uint64_t strings_ = 0, strings_bytes_ = 0, symbols_ = 0, hash_ = 0, gnu_hash_ = 0;
  std::uint64_t relocations_ = 0, relocations_bytes_ = 0, plt_ = 0, plt_bytes_ = 0;
  std::vector<std::uint64_t> needed_;
  ElfSummary summary_;
};

Result<ElfSummary> Reader::run() {
  if (!read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
    return malformed("no ELF header");
  }
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_machine != EM_X86_64 || header_.e_type != ET_DYN) {
    return malformed("no 64-bit x86 shared object");
  }
  TRY(read_segments());
  TRY(read_dynamic());
  TRY(read_symbols());
  TRY(read_relocations(relocations_, relocations_bytes_));
  TRY(read_relocations(plt_, plt_bytes_));
  count_writable();
  return std::move(summary_);
}

Result<void> Reader::read_segments() {
  constexpr std::uint64_t kSegmentsMax = 64;
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum > kSegmentsMax) {
    return malformed("program headers");
  }
  for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (header_.e_phoff > file_.size() || !read(header_.e_phoff + i * sizeof segment, segment)) {
      return malformed("program header outside of the file");
    }
    const bool inside = segment.p_offset <= file_.size() &&
                        segment.p_filesz <= file_.size() - segment.p_offset &&
                        segment.p_vaddr <= UINT64_MAX - segment.p_memsz;
    if (segment.p_type == PT_LOAD && (!inside || segment.p_filesz > segment.p_memsz)) {
      return malformed("load segment outside of the file");
    }
    if (segment.p_type == PT_GNU_STACK) {
      summary_.executable_stack = (segment.p_flags & PF_X) != 0;
    }
    if (segment.p_type == PT_TLS) {
      summary_.writable_bytes += segment.p_memsz;
    }
    segments_.push_back(segment);
  }
  return {};
}

std::optional<std::uint64_t> Reader::offset_of(std::uint64_t address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) {
      continue;
    }
    const std::uint64_t inside = address - segment.p_vaddr;
    if (inside < segment.p_filesz) {
      return segment.p_offset + inside;
    }
  }
  return std::nullopt;
}

Result<void> Reader::read_dynamic() {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [](const Elf64_Phdr& s) { return s.p_type == PT_DYNAMIC; });
  if (found == segments_.end()) {
    return malformed("no dynamic section");
  }
  const std::uint64_t entries = found->p_filesz / sizeof(Elf64_Dyn);
  for (std::uint64_t i = 0; i < entries; ++i) {
    Elf64_Dyn entry{};
    if (found->p_offset > file_.size() || !read(found->p_offset + i * sizeof entry, entry)) {
      return malformed("dynamic section outside of the file");
    }
    const std::uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL:
        i = entries;
        break;
      case DT_NEEDED:
        needed_.push_back(value);
        break;
      case DT_STRTAB:
        strings_ = value;
        break;
      case DT_STRSZ:
        strings_bytes_ = value;
        break;
      case DT_SYMTAB:
        symbols_ = value;
        break;
      case DT_HASH:
        hash_ = value;
        break;
      case DT_GNU_HASH:
        gnu_hash_ = value;
        break;
      case DT_RELA:
        relocations_ = value;
        break;
      case DT_RELASZ:
        relocations_bytes_ = value;
        break;
      case DT_JMPREL:
        plt_ = value;
        break;
      case DT_PLTRELSZ:
        plt_bytes_ = value;
        break;
      case DT_INIT:
      case DT_FINI:
        ++summary_.constructors;
        break;
      case DT_INIT_ARRAYSZ:
      case DT_FINI_ARRAYSZ:
      case DT_PREINIT_ARRAYSZ:
        summary_.constructors += value / 8;
        break;
      case DT_FILTER:
      case DT_AUXILIARY:
      case DT_RPATH:
      case DT_RUNPATH:
      case DT_TEXTREL:
        return malformed("a dynamic entry that no kernel needs");
      default:
        break;
    }
  }
  for (const std::uint64_t index : needed_) {
    summary_.needed.push_back(TRY(text_at(index)));
  }
  return {};
}

Result<std::string> Reader::text_at(std::uint64_t index) const {
  const std::optional<std::uint64_t> base = offset_of(strings_);
  if (!base || index >= strings_bytes_) {
    return malformed("string outside of its table");
  }
  const std::uint64_t begin = *base + index;
  const std::uint64_t limit = std::min<std::uint64_t>(*base + strings_bytes_, file_.size());
  if (strings_bytes_ > file_.size() || begin >= limit) {
    return malformed("string table");
  }
  const auto* text = reinterpret_cast<const char*>(file_.data());
  const void* end = std::memchr(text + begin, 0, limit - begin);
  if (end == nullptr) {
    return malformed("string without an end");
  }
  return std::string(text + begin, static_cast<const char*>(end));
}

// The dynamic symbol table has no size of its own: the hash tables know it.
Result<std::uint64_t> Reader::symbol_count() const {
  if (hash_ != 0) {
    std::uint32_t counts[2] = {0, 0};
    const auto at = offset_of(hash_);
    if (!at || !read(*at, counts)) {
      return malformed("hash table");
    }
    return std::uint64_t{counts[1]};
  }
  const auto at = offset_of(gnu_hash_);

  struct {
    std::uint32_t buckets, first, bloom, shift;
  } head{};

  if (gnu_hash_ == 0 || !at || !read(*at, head)) {
    return malformed("no symbol hash table");
  }
  const std::uint64_t buckets_at = *at + sizeof head + std::uint64_t{head.bloom} * 8;
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < head.buckets; ++i) {
    std::uint32_t bucket = 0;
    if (!read(buckets_at + i * 4, bucket)) {
      return malformed("hash buckets");
    }
    last = std::max(last, bucket);
  }
  if (last < head.first) {
    return std::uint64_t{head.first};
  }
  const std::uint64_t chains_at = buckets_at + std::uint64_t{head.buckets} * 4;
  for (;; ++last) {
    std::uint32_t chain = 0;
    if (!read(chains_at + std::uint64_t{last - head.first} * 4, chain)) {
      return malformed("hash chain");
    }
    if ((chain & 1U) != 0) {
      return std::uint64_t{last} + 1;
    }
  }
}

Result<void> Reader::read_symbols() {
  if (symbols_ == 0) {
    return malformed("no symbol table");
  }
  const auto base = offset_of(symbols_);
  const std::uint64_t count = TRY(symbol_count());
  if (!base || count > (1U << 20)) {
    return malformed("symbol table");
  }
  for (std::uint64_t i = 1; i < count; ++i) {
    Elf64_Sym symbol{};
    if (!read(*base + i * sizeof symbol, symbol)) {
      return malformed("symbol outside of the file");
    }
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const std::string name = TRY(text_at(symbol.st_name));
    if (symbol.st_shndx == SHN_UNDEF) {
      summary_.undefined.push_back(name);
      continue;
    }
    summary_.indirect_functions |= type == STT_GNU_IFUNC;
    if (type == STT_FUNC) {
      summary_.exported.push_back(name);
    }
  }
  return {};
}

// A local indirect function has no dynamic symbol, only this relocation.
Result<void> Reader::read_relocations(std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 || bytes == 0) {
    return {};
  }
  const auto base = offset_of(address);
  if (!base || bytes > file_.size()) {
    return malformed("relocations");
  }
  for (std::uint64_t i = 0; i < bytes / sizeof(Elf64_Rela); ++i) {
    Elf64_Rela relocation{};
    if (!read(*base + i * sizeof relocation, relocation)) {
      return malformed("relocation outside of the file");
    }
    summary_.indirect_functions |= ELF64_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE;
  }
  return {};
}

// Memory that stays writable after relocation: load segments with write permission, less what relro
// protects.
void Reader::count_writable() {
  std::uint64_t writable = 0;
  std::uint64_t protected_bytes = 0;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_GNU_RELRO) {
      protected_bytes += segment.p_memsz;
    }
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    writable += segment.p_memsz;
    if ((segment.p_flags & PF_X) != 0) {
      summary_.executable_writable += segment.p_memsz;
    }
  }
  summary_.writable_bytes += writable > protected_bytes ? writable - protected_bytes : 0;
}

}  // namespace

Result<ElfSummary> read_elf(std::span<const std::byte> file) { return Reader(file).run(); }

}  // namespace fusefarm::verify
