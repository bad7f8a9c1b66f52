/** What a command line does, in plain words that rules can test. */

export type Effect =
  /** Removes files. */
  | 'deletes'
  /** Empties or replaces a file that exists, and whose content git does not have. */
  | 'overwrites'
  /** Throws away work that git knows: changes, commits, branches, stashes. */
  | 'loses-work'
  /** Moves work to another repository, or changes where it goes. */
  | 'pushes'
  /** Makes something public or changes what others get: packages, images, releases, deployments. */
  | 'publishes'
  /** Removes or resets databases, infrastructure, volumes and what else is not a file. */
  | 'destroys-data'
  /** Changes the machine: rights, users, services, processes, timetables, installed programs. */
  | 'changes-system'
  /** Changes settings of git, of a package manager or of an agent. */
  | 'changes-settings'
  /** Fetches code from elsewhere and runs or installs it, other than from the usual registry. */
  | 'fetches-code'
  /** Reaches another machine in a way that `hosts` does not show. */
  | 'connects'
  /** Sends data to another machine. */
  | 'sends'
  /** Writes files that the line does not name. */
  | 'unpacks'
  /** Prints passwords, tokens or variables that may hold them. */
  | 'prints-secrets'
  /** Runs a program by its path, which the agent may have written. */
  | 'runs-file'
  /** Changes, with `>`, a file outside of the project. */
  | 'writes-outside'
  /** Names a path outside of the project. */
  | 'names-outside';

/**
 * Commands with one effect: the effect, why in words that follow the command, and patterns that are
 * divided by line ends or semicolons. A pattern is a program and words:
 * - `a|b` is one of several, also for the program; `*` is any text, `?` one character;
 * - a word is the next word that is no option, and `+` is any such word;
 * - `0` says that there are no further words but options;
 * - `-f|--force` is one of these options, anywhere, also shortened or among other letters;
 * - `!--list` says that this option is not there;
 * - `=x*` is some word of this form, anywhere.
 *
 * A `harmless` pattern takes the other effects of a command away. It fits only if there is no doubt
 * which word is the value of an option.
 */
export type EffectRow = readonly [does: Effect | 'harmless', because: string, patterns: string];
