/**
 * Programs that run commands, or do as much harm, when somebody writes to them: pagers, editors,
 * debuggers, monitors, file managers, prompts of languages and databases.
 */
import { languageOf } from './programs.ts';

const programs: ReadonlySet<string> = new Set(
  // Pagers, manuals and browsers.
  (
    'bat batcat bzless elinks info less links lynx lzless man more most pg pinfo w3m xzless ' +
    'zless zmore ' +
    // Editors. More of them are in `runsOthers`.
    'ed emacs emacsclient ex hx jed joe kak mcedit micro nano ne nvi nvim pico rnano rvim vi ' +
    'view vim vimdiff ' +
    // Monitors, file managers and other screens.
    'atop bpytop btop fzf gitui glances gotop htop iotop k9s lazydocker lazygit lf mc ncdu ' +
    'nmon nnn powertop ranger screen sk tig tmux top vifm watch yazi zellij ' +
    // Debuggers.
    'byebug cgdb cuda-gdb dlv gdb ipdb jdb kdb lldb mdb pdb phpdbg pudb rdbg rdebug rr ' +
    // Languages.
    'amm bpython clisp clj clojure dc erl evcxr ghci gnuplot gore gosh groovysh gp guile iex ' +
    'irb jshell jupyter kotlin maxima node-repl ocaml octave pry psysh ptpython R racket ' +
    'rlwrap sage sbcl scala spark-shell pyspark swift tclsh utop wish xonsh ' +
    // Databases.
    'beeline bq clickhouse clickhouse-client cqlsh cypher-shell db2 duckdb hive influx iredis ' +
    'isql litecli mariadb mongo mongosh mycli mysql osql pgcli psql redis-cli snowsql ' +
    'spark-sql sqlcmd sqlite3 sqlplus trino tsql usql ' +
    // Other machines.
    'adb cu ftp lftp minicom mosh picocom sftp smbclient ssh telnet'
  ).split(' '),
);

/** Words of other programs that open such a prompt, or an editor. */
const prompts: ReadonlyMap<string, RegExp> = new Map([
  ['python', /^-[A-Za-z]*i|^(?:shell|shell_plus|dbshell|pdb|ipdb|pudb|code)$/],
  ['node', /^-[A-Za-z]*i|^--interactive$|^inspect$/],
  ['perl', /^-[A-Za-z]*d/],
  ['php', /^-[A-Za-z]*a|^--interactive$|^tinker$/],
  ['ruby', /^-[A-Za-z]*d/],
  ['lua', /^-i/],
  ['rails', /^(?:c|console|db|dbconsole)$/],
  ['rake', /console$/],
  ['deno', /^repl$/],
  ['bun', /^repl$/],
  ['lein', /^repl$/],
  ['sbt', /^(?:shell|console)$/],
  ['stack', /^(?:ghci|repl)$/],
  ['cabal', /^repl$/],
  ['mix', /^(?:iex)$/],
  ['systemctl', /^edit$/],
  ['npm', /^(?:edit|explore|config)$/],
  ['gh', /^(?:edit|-e|--editor)$/],
]);

/** Programs that open a prompt if they have no words. */
const alone: ReadonlySet<string> = new Set(['openssl', 'sbt', 'gradle', 'ghc', 'nslookup', 'dig']);

/** When commands of git open an editor or a prompt, by their words, and what prevents it. */
const edits: ReadonlyMap<string, readonly [when: RegExp, unless?: RegExp]> = new Map([
  ['add', [/ (?:-[A-Za-z]*[pie]|--(?:pa|int|ed)\S*)(?: |$)/]],
  ['branch', [/ --edit/]],
  ['checkout', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['clean', [/ (?:-[A-Za-z]*i|--int)/]],
  ['commit', [/^/, / (?:-[A-Za-z]*[mFCt]|--(?:me|fi|reuse|no-e|te|dry))/]],
  ['config', [/ (?:-e|--ed\S*|edit)(?: |$)/]],
  ['merge', [/^/, / (?:-[A-Za-z]*[mF]|--(?:no-e|ff-only|sq|ab|q|no-c))/]],
  ['notes', [/ (?:add|append|edit)/, / (?:-[A-Za-z]*[mFC])/]],
  ['rebase', [/ (?:-[A-Za-z]*i|--(?:int|edit))/]],
  ['replace', [/ (?:-e|--ed)/]],
  ['reset', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['restore', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['revert', [/^/, / (?:-n|--(?:no-e|no-c|ab|q|sk))/]],
  ['stash', [/ (?:-p|--pa\S*)(?: |$)/]],
  ['tag', [/ -[A-Za-z]*[as]/, / (?:-[A-Za-z]*[mF]|--(?:me|fi))/]],
]);

/** Whether somebody who can write to the program could make it run a command. */
export function isFed(program: string, words: readonly string[]): boolean {
  if (words.length === 1 && /^--(?:version|help)$/.test(words[0] as string)) return false;
  if (programs.has(program) || (words.length === 0 && alone.has(program))) return true;
  if (program === 'git') {
    const [when, unless] = edits.get(words[0] ?? '') ?? [];
    const text = words.join(' ');
    return when?.test(text) === true && unless?.test(text) !== true;
  }
  const prompt = prompts.get(languageOf(program));
  return prompt !== undefined && words.some((word) => prompt.test(word));
}

/** The tables, for tests. */
export const fedTables = { programs, prompts, alone, edits };
