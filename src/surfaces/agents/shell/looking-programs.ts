/**
 * Programs that only look: they read what their words name, and print. They write no file, start no
 * program of their words' choice, reach no other machine, and print no environment.
 */
import { isPlainSed } from './programs.ts';

/** Which words of a program still let it only look. */
interface LookingRow {
  /** What the first word must be. */
  readonly first?: RegExp;
  /** No word may match this: it writes, runs or reaches something. */
  readonly except?: RegExp;
  /** Most words that are no options, because a further one is written to. */
  readonly operands?: number;
  /** One-letter options that take the next word, for `operands`. */
  readonly valued?: string;
}

/** Programs that only look, whatever their words are. */
const always: ReadonlySet<string> = new Set(
  (
    '[ : b2sum basename break bzcat cal cat cd cksum clear cmp column comm continue cut df ' +
    'diff dirname dirs echo egrep exit expand expr factor false fgrep fmt fold free getconf ' +
    'grep groups gzcat hd head id join locale logname ls lsblk lscpu lzcat md5 md5sum nl ' +
    'nproc numfmt paste pgrep pr pwd readlink realpath return rev seq sha1sum sha224sum ' +
    'sha256sum sha384sum sha512sum shasum sleep stat sum sw_vers tac tail test times tr true ' +
    'tsort tty type uname unexpand uptime users vmstat wait whence whereis which who whoami ' +
    'xzcat zcat zipinfo zstdcat'
  ).split(' '),
);

/** Programs that only look if their words are of this form. */
const rows: ReadonlyMap<string, LookingRow> = new Map<string, LookingRow>([
  ['base64', { except: /^-[A-Za-z]*o|^--o/ }],
  ['command', { first: /^-p?[vV]$/ }],
  ['date', { except: /^-[A-Za-z]*s|^--s|^\d[\d.]*$/ }],
  // The names of the files are in another file.
  ['du', { except: /^--f/ }],
  ['wc', { except: /^--f/ }],
  ['fd', { except: /^-[A-Za-z]*[xX]|^--exec/ }],
  ['fdfind', { except: /^-[A-Za-z]*[xX]|^--exec/ }],
  ['file', { except: /^-[A-Za-z]*[Cfm]|^--(?:c|f|m(?:a|$))/ }],
  ['find', { except: /^-(?:exec|ok|delete|fprint|fls|files0)/ }],
  ['hexdump', { except: /^-[A-Za-z]*f/ }],
  ['hostname', { except: /^(?!-[adfiIsAy]+$)/ }],
  ['iconv', { except: /^-[A-Za-z]*o|^--o/ }],
  ['jobs', { except: /^-[A-Za-z]*[xZ]/ }],
  ['jq', { except: /env|input_filename|^-[A-Za-z]*[fL]|^--(?:from-file|library)|import|include/i }],
  ['nm', { except: /^--p/ }],
  ['od', {}],
  // The environment of other processes.
  ['ps', { except: /^[A-Za-z]*e|^-[A-Za-z]*E/ }],
  ['printf', { except: /^-/ }],
  ['readelf', { except: /^--p/ }],
  ['rg', { except: /^--(?:pre|hostname-bin|search-zip)|^-[A-Za-z]*z/ }],
  ['size', { except: /^--p/ }],
  ['sort', { except: /^-[A-Za-z]*[oT]|^--(?:o|co|fi|t)/ }],
  ['strings', { except: /^--p/ }],
  [
    'tar',
    // A name with a colon is an archive on another machine.
    { first: /^-?[avzjJ]*t[avzjJf]*$|^--list$/, except: /^-(?!(?:[tavzjJf]+|-list)$)|:/ },
  ],
  ['tree', { except: /^-[A-Za-z]*[oR]|^--(?:fromf|o)/ }],
  ['uniq', { operands: 1, valued: 'fsw' }],
  ['unzip', { first: /^-[lvtqZ1]+$/, except: /^-[^lvtqZ1]/ }],
  [
    'yq',
    // Without code from files, variables and other programs, and without a file that it changes.
    {
      except:
        /^-[A-Za-z]*[fis]|^--(?:from|in|split|sec)|env|load|system|include|import|input|eval/i,
    },
  ],
  ['xxd', { except: /^-[A-Za-z]*r/, operands: 1, valued: 'clsgoR' }],
]);

/** Commands of programs that only look, if they are the first words. */
const commands: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    'cargo: version',
    'docker: diff history images info logs port ps stats top version',
    'docker compose: events images logs ls port ps top version',
    'docker container: ls list',
    'kubectl: api-resources api-versions cluster-info describe events explain get logs top version',
    'kubectl config: current-context get-clusters get-contexts',
    'kubectl rollout: history status',
    'docker image: ls list',
    'docker network: ls list',
    'docker volume: ls list',
    'go: version',
    'npm: bin ls list prefix root why explain',
    'podman: diff history images info logs port ps stats top version',
    'pip: freeze list show',
    'pip3: freeze list show',
    'rustup: show',
    'systemctl: is-active is-enabled is-failed list-timers list-unit-files list-units status',
  ].map((row) => {
    const [program = '', words = ''] = row.split(': ');
    return [program, new Set(words.split(' '))];
  }),
);

/** Whether it may only look: it runs none of its words. */
export function mayLook(program: string): boolean {
  return always.has(program) || rows.has(program);
}

/** Options of these commands that reach another machine, or take another configuration. */
const lookingElsewhere =
  /^--(?:host|context|.*config|index|extra-index|outdated|uptodate|proxy)|^-[oHM]/;

const clusterElsewhere =
  /^--(?:as|cluster|context|f|host|kubeconfig|password|raw|server|token|user)|^-[A-Za-z]*(?:s|f.)/;

/** Programs that print their version, and do nothing else, if this is their only word. */
const versioned: ReadonlySet<string> = new Set(
  (
    'bun cargo clang cmake deno docker g++ gcc git go java javac make node npm npx perl php ' +
    'pip pip3 pnpm podman python python3 ruby rustc rustup'
  ).split(' '),
);

/** The tables, for tests. */
export const lookingTables = { always, rows, commands, versioned };

/**
 * Whether a program only looks with these words. `git` and programs that run other programs are
 * read elsewhere.
 * @param words Its words after the program's name, without quotes
 */
export function onlyLooks(program: string, words: readonly string[]): boolean {
  if (always.has(program)) return true;
  if (words.length === 1 && words[0] === '--version') return versioned.has(program);
  if (program === 'sed') return sedOnlyLooks(words);
  if (/^[gmn]?awk$/.test(program)) return awkOnlyLooks(words);
  const row = rows.get(program);
  if (row !== undefined) return fits(row, words);
  // `kubectl -n dev get pods`
  const isNamed = program === 'kubectl' && /^(?:-n|--namespace)$/.test(words[0] ?? '');
  const [first = '', second = ''] = words.slice(isNamed ? 2 : 0);
  const own = commands.get(program)?.has(first);
  if (own !== true && commands.get(`${program} ${first}`)?.has(second) !== true) return false;
  const elsewhere = program === 'kubectl' ? clusterElsewhere : lookingElsewhere;
  return !words.some((word) => elsewhere.test(word));
}

function fits({ first, except, operands, valued = '' }: LookingRow, words: readonly string[]) {
  if (first !== undefined && !first.test(words[0] ?? '')) return false;
  if (except !== undefined && words.some((word) => except.test(word))) return false;
  if (operands === undefined) return true;
  const isValue = (at: number): boolean =>
    /^-[A-Za-z]$/.test(words[at - 1] ?? '') && valued.includes((words[at - 1] as string)[1] ?? '');
  return words.filter((word, at) => !/^-./.test(word) && !isValue(at)).length <= operands;
}

/** Without `-i`, and with scripts that only print, delete or replace. */
function sedOnlyLooks(words: readonly string[]): boolean {
  const options = words.filter((word) => /^-./.test(word));
  if (!options.every((word) => /^-[nErsuz]+$|^-[nErsuz]*e$/.test(word))) return false;
  const given = words.filter((_, at) => /^-[nErsuz]*e$/.test(words[at - 1] ?? ''));
  const scripts = given.length > 0 ? given : words.filter((word) => !/^-./.test(word)).slice(0, 1);
  return scripts.length > 0 && scripts.every((script) => isPlainSed(script));
}

/** Without anything that could run a command, write or read another file, or print a variable. */
function awkOnlyLooks(words: readonly string[]): boolean {
  let at = 0;
  for (; words[at]?.startsWith('-') === true; at++) {
    if (words[at] === '-F' || words[at] === '-v') at++;
    else if (!/^-[Fv]./.test(words[at] as string)) return false;
  }
  const script = words[at] ?? '';
  // `>` compares, unless it follows `print`.
  const plain = script.replace(/>=|\|\||\\[^\r\n]/g, ' ');
  const [beforePrint = ''] = plain.split('print', 1);
  return (
    script !== '' &&
    !/[|@\\]/.test(plain) &&
    !/system|getline|ARG|ENVIRON|PROCINFO|SYMTAB|FUNCTAB/.test(script) &&
    !plain.slice(beforePrint.length).includes('>')
  );
}
