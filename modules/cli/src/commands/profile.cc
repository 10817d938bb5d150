// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <set>

#include "commands/commands.h"
#include "options/profile_options.h"
#include "pages/profile_page.h"
#include "text/describe.h"
#include "text/profile_report.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/profile/csv.h"
#include "tfaot/records/profile_json.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/profile_study.h"

namespace tfaot::toolkit {
namespace {

// A plain SVG, which so needs nothing else.
bool is_drawn_by_us(const Path& output, PlotStyle style) {
  return output.extension() == ".svg" && style == PlotStyle::kPlain;
}

Status check_outputs(const ProfileCommand& command, Program& program) {
  if (!command.output.empty()) {
    TFAOT_TRY(check_output_file(program.files, "--output", program.absolute(command.output)));
  }
  if (!command.csv.empty()) {
    TFAOT_TRY(check_output_folder(program.files, "--csv", program.absolute(command.csv)));
    TFAOT_TRY(check_outside_packages(program.files, "--csv", program.absolute(command.csv)));
  }
  for (const std::string& plot : command.plots) {
    const std::string extension = Path(plot).extension().string();
    if (extension != ".svg" && extension != ".png" && extension != ".pdf") {
      return fail(Error::usage(fmt::format("profile: --plot '{}' is no .svg, .png or .pdf", plot)));
    }
    const Path output = program.absolute(plot);
    TFAOT_TRY(check_output_file(program.files, "--plot", output));
    if (!is_drawn_by_us(output, command.plot.style)) TFAOT_TRY(check_drawing(program, output));
  }
  return command.html.check(program);
}

Status write_plot(const PlotRequest& request, const Profile& profile, Program& program) {
  if (!is_drawn_by_us(request.output, request.style)) {
    return draw_profile(program, profile, request);
  }
  const report::Plot plot = time_plot(all_curves(profile), request.time, request.errors);
  TFAOT_ASSIGN(const Path place, place_for_named_file(program.files, request.output));
  return program.files.replace_atomically(place, report::svg_of(plot));
}

// Of a study: a list, with one for each machine.
nlohmann::ordered_json profiles_to_json(const ProfileCommand& command,
                                        const std::vector<Profile>& profiles) {
  if (command.study.empty()) return profile_to_json(profiles.front());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Profile& profile : profiles) json.push_back(profile_to_json(profile));
  return json;
}

Status write_outputs(const ProfileCommand& command, const std::vector<Profile>& profiles,
                     Program& program) {
  const InterruptWatch watch;
  const nlohmann::ordered_json json = profiles_to_json(command, profiles);
  if (!command.output.empty()) {
    TFAOT_ASSIGN(const Path place,
                 place_for_named_file(program.files, program.absolute(command.output)));
    TFAOT_TRY(program.files.replace_atomically(place, json_text(json)));
  }
  for (const Profile& profile : profiles) {
    if (command.csv.empty()) break;
    Path folder = program.absolute(command.csv);
    if (!command.study.empty()) folder /= profile.machine.name;
    std::set<std::string> names;
    for (const ProfiledCurve& curve : profile.curves) {
      std::string name = csv_file_name(curve);
      for (int number = 2; !names.insert(name).second; ++number) {  // two packages of one model
        name = Path(csv_file_name(curve)).stem().string() + fmt::format("_{}.csv", number);
      }
      TFAOT_ASSIGN(const Path place, place_for_named_file(program.files, folder / name));
      TFAOT_TRY(program.files.replace_atomically(place, curve_to_csv(curve)));
    }
  }
  for (const std::string& plot : command.plots) {
    PlotRequest request = command.plot;
    request.output = program.absolute(plot);
    TFAOT_TRY(write_plot(request, profiles.front(), program));
  }
  if (!command.html.given()) return {};
  return command.html.write(program, profile_page(profiles), json);
}

Result<std::vector<Profile>> measured_study(const ProfileCommand& command, Program& program) {
  TFAOT_TRY(check_outputs(command, program));
  TFAOT_ASSIGN(ProfileRequest common, common_request(command, program));
  StudyRequest request{program.absolute(command.study), std::move(common)};
  TFAOT_ASSIGN(StudyResult result, profile_study(program, request));
  program.console.verbose(fmt::format("{}: {} models measured, {} measured before",
                                      result.output.string(), result.measured, result.kept));
  return std::move(result.machines);
}

Result<std::vector<Profile>> measured_packages(const ProfileCommand& command, Program& program) {
  TFAOT_ASSIGN(const ProfileRequest request, profile_request(command, program));
  TFAOT_TRY(check_outputs(command, program));
  TFAOT_ASSIGN(Profile measured, profile_models(program, request));
  return std::vector<Profile>{std::move(measured)};
}

Status profile(const ProfileCommand& command, const CLI::App& app, Program& program) {
  command.verbosity.apply(program.console);
  if (!command.study.empty()) TFAOT_TRY(check_study_options(app));
  TFAOT_ASSIGN(const std::vector<Profile> profiles, command.study.empty()
                                                        ? measured_packages(command, program)
                                                        : measured_study(command, program));
  TFAOT_TRY(write_outputs(command, profiles, program));
  if (command.json) {
    program.console.print(json_text(profiles_to_json(command, profiles)));
    return {};
  }
  for (const Profile& profile : profiles) program.console.print(profile_text(profile));
  return {};
}

}  // namespace

Action add_profile(CLI::App& app) {
  auto command = std::make_shared<ProfileCommand>();
  add_profile_options(app, *command);
  app.footer(
      "Each engine runs in a process of its own, with one thread; all of one model take turns on "
      "one\n"
      "core. Predictions are compared with the package's before anything is timed.\n"
      "Examples:\n"
      "  tfaot profile area/tagger --batch-sizes 1,3,16,100 --strategies normal,padding\n"
      "  tfaot profile out --peer tensorflow=saved_model --html profile.html\n"
      "  tfaot profile --study profile.yaml --html study.html");
  return [command, &app](Program& program) { return profile(*command, app, program); };
}

}  // namespace tfaot::toolkit
