// SPDX-License-Identifier: Apache-2.0
// A report: values that a verb fills, and the two ways in which a user reads them. html_of() makes
// a self-contained page: it needs no network and no other file, follows the reader's light or dark
// setting, fits a phone, prints, and can be read without JavaScript. text_of() makes text for a
// terminal. Every text may be hostile: both make it harmless. Equal values give equal bytes. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tfaot::toolkit::report {

// Highlights, listings, figures and links are on the page alone; the other parts say it.
enum class Where { kBoth, kPage, kText };

enum class Verdict { kNone, kNote, kGood, kWarning, kBad };

// A coloured word with a mark, such as "✓ no difference". kNone: nothing is shown.
struct Badge {
  Verdict verdict = Verdict::kNone;
  std::string text = {};
};

struct Fact {
  std::string label = {};
  std::string value = {};  // its lines stay lines; a fact without a value is left out
  Where where = Where::kBoth;
};

// A figure in large type: {"code", "12.3 kB", "6 objects"}.
struct Highlight {
  std::string label = {};
  std::string value = {};
  std::string note = {};
};

// One paragraph.
struct Text {
  std::string text = {};
  Where where = Where::kBoth;
};

// A coloured box: a problem, or advice. Every note is a line of its own. The text begins with
// "problem:", "warning:" or "note:".
struct Callout {
  Verdict verdict = Verdict::kNote;
  std::string text = {};
  std::vector<std::string> notes = {};
  Where where = Where::kBoth;
};

struct Facts {
  std::vector<Fact> facts = {};
};

enum class ColumnKind {
  kText,    // wraps between words
  kCode,    // a name: fixed width, wraps anywhere; text keeps its end if it cuts it
  kNumber,  // aligned to the right
  kHash,    // small, fixed width, never wraps
};
struct Column {
  std::string title = {};
  ColumnKind kind = ColumnKind::kText;
  Where where = Where::kBoth;
};
struct Cell {
  std::string text = {};
  std::optional<double> number = {};  // sorts by it instead of by its text
  Verdict verdict = Verdict::kNone;   // shows the text as a badge
  std::optional<double> share = {};   // 0 to 1: a bar below the text
};
struct Table {
  std::string caption = {};
  std::vector<Column> columns = {};          // text: without a head if they have no titles
  std::vector<std::vector<Cell>> rows = {};  // of as many cells as columns
  std::string empty = "none";                // shown instead of a table without rows
  Where where = Where::kBoth;
  // Of the text alone.
  std::size_t most_rows = 1'000'000;
  std::size_t most_bytes = 2000;  // of a cell
};

// Horizontal bars. The series of a bar gives its colour; their names are the legend.
struct Bar {
  std::string label = {};
  double value = 0;       // not negative
  std::string text = {};  // the value with its unit
  std::size_t series = 0;
};
struct Bars {
  std::string caption = {};
  std::vector<std::string> series = {};  // at most kMostSeries; empty: one colour, no legend
  std::vector<Bar> bars = {};            // equal neighbouring labels are shown once
  Where where = Where::kBoth;
};
inline constexpr std::size_t kMostSeries = 6;

// Code or other text of fixed width.
struct Listing {
  std::string title = {};
  std::string text = {};
  bool open = false;                     // else folded until the reader opens it
  std::vector<std::size_t> marked = {};  // lines to mark, counted from 1
};

// A drawing. REQUIRES: `svg` is well-formed, and texts inside it went through escaped(). Scripts in
// it do not run. Colours that follow light and dark are CSS variables: --ink, --muted, --line,
// --surface, --series-1 to --series-6. A prologue before "<svg" is left out.
struct Figure {
  std::string title = {};    // what a screen reader says instead
  std::string caption = {};  // shown below
  std::string svg = {};
  bool zoomable = false;  // a large drawing: readers zoom it, drag it, and find its texts
  bool folded = false;    // until the reader opens it; its title is then shown
};

// A link to another site, which opens only if the reader follows it.
struct Link {
  std::string text = {};
  std::string address = {};  // https://
};

using Block = std::variant<Text, Callout, Facts, Table, Bars, Listing, Figure, Link>;

struct Section {
  std::string title = {};
  Badge badge = {};
  std::vector<Block> blocks = {};
  Where where = Where::kBoth;
};
// The title of a section whose blocks come below the text's first line, without a title.
inline constexpr const char* kOverview = "Overview";

struct Page {
  std::string kind = {};     // "package"
  std::string title = {};    // "tagger 1.0.0"
  std::string heading = {};  // the text's first line; empty: kind, title and summary
  Badge badge = {};
  std::string summary = {};
  std::vector<Highlight> highlights = {};
  std::vector<Section> sections = {};
  std::string data = {};             // JSON: what the page was made from; readers can save it
  std::string command = {};          // the command line that made the page
  std::string toolkit_version = {};  // of tfaot
};

// REQUIRES: page.data is JSON, and every row of a table has a cell for each column.
std::string html_of(const Page& page);
std::string text_of(const Page& page);
// Not indented.
std::string text_of(const Table& table);

// A text inside an SVG element or its attribute.
std::string escaped(std::string_view text);

// "12.3 kB", with powers of 1000; below that "512 bytes".
std::string bytes_text(std::uint64_t bytes);
// "12 345 678"
std::string grouped_digits(std::int64_t number);

}  // namespace tfaot::toolkit::report
