/** The hosts that a command line names, in every form in which programs accept them. */
import { most, tooMany } from './shell-facts.ts';

/**
 * The hosts of the web addresses in a word. Programs read addresses differently, so every host that
 * one of them would see is named. @throws PolicyFault if there are too many
 */
export function hostsOfWord(word: string): readonly string[] {
  const hosts: string[] = [];
  // Reading the name of a scheme from its beginning would take quadratic time in a long word.
  for (const [, host] of word.matchAll(
    /[a-z0-9+.-]:\/\/(?:[^\s/@]*@)?(\[[^\]\s]{0,64}\]|[^\s/:?#'"]+)/gi,
  ))
    hosts.push(host as string);
  // As the URL standard says: tabs and line ends are ignored, backslashes are slashes, and slashes
  // may be missing or too many.
  const plain = /[\t\r\n]/.test(word) ? word.replace(/[\t\r\n]/g, '') : word;
  let left = most.addresses;
  for (const { index } of plain.matchAll(/(?:https?|ftps?|wss?|file):/gi)) {
    if (--left < 0) throw tooMany('addresses');
    const [text = ''] = /^[^\s'"<>]{1,2048}/.exec(plain.slice(index, index + 2_048)) ?? [];
    const address = text.replace(/^ftps/i, 'ftp');
    if (URL.canParse(address)) hosts.push(new URL(address).hostname);
  }
  // The form in which git and other programs name a host that is reached by ssh.
  const [, host] = /^[\w.+-]{1,64}@([\w-]+(?:\.[\w-]+)+):/.exec(word) ?? [];
  if (host !== undefined) hosts.push(host);
  // Browsers and some programs take this for an address as well.
  const [, bare] = /^[\\/]{2}([\w.-]+\.[a-z]{2,})(?=[\\/:?#]|$)/i.exec(word) ?? [];
  if (bare !== undefined) hosts.push(bare);
  return hosts.filter((one) => one !== '').map(clean);
}

function clean(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

/** Which words of a program may name a host. */
interface HostRow {
  /** Options that take the next word, which is then no operand. Long ones may be shortened. */
  readonly valued: string;
  /** `path`: as `host:path`. `url`: as an address without a scheme. `host`: on its own. */
  readonly as: 'path' | 'url' | 'host';
  /** Whether only the first operand may name one, because the others mean something else. */
  readonly first?: boolean;
  /** Those of `valued` whose value is a text, and names no host: `-H 'Accept: x'`. */
  readonly texts?: string;
}

/** By program, or by command of git. */
export const hostRows: ReadonlyMap<string, HostRow> = new Map<string, HostRow>([
  [
    'git clone',
    {
      as: 'path',
      valued:
        '-o --origin -b --branch -u --upload-pack --reference --depth --shallow-since ' +
        '--shallow-exclude -j --jobs -c --config --separate-git-dir --filter --server-option ' +
        '--template --bundle-uri --revision --ref-format',
    },
  ],
  [
    'git fetch',
    {
      as: 'path',
      first: true,
      valued:
        '--depth --deepen --shallow-since --shallow-exclude --negotiation-tip -j --jobs ' +
        '--refmap ' +
        '-o --server-option --upload-pack --filter',
    },
  ],
  [
    'git pull',
    {
      as: 'path',
      first: true,
      valued:
        '--depth --deepen --shallow-since --shallow-exclude --negotiation-tip -j --jobs ' +
        '--refmap ' +
        '-o --server-option --upload-pack -s --strategy -X --strategy-option --cleanup',
    },
  ],
  ['git push', { as: 'path', first: true, valued: '-o --push-option --receive-pack --exec' }],
  ['git ls-remote', { as: 'path', first: true, valued: '-o --server-option --sort --upload-pack' }],
  ['git remote', { as: 'path', valued: '-t -m' }],
  ['git submodule', { as: 'path', valued: '-b --branch --name --reference --depth' }],
  ['git archive', { as: 'path', first: true, valued: '-o --output --format --prefix --exec' }],
  ['git fetch-pack', { as: 'path', first: true, valued: '' }],
  ['git send-pack', { as: 'path', first: true, valued: '' }],
  ['git lfs', { as: 'path', valued: '' }],
  ['scp', { as: 'path', valued: '-c -D -F -i -J -l -o -P -S -X' }],
  ['rsync', { as: 'path', valued: '-e --rsh -f --filter --exclude --include --port --info' }],
  ['sftp', { as: 'host', valued: '-B -b -c -D -F -i -J -l -o -P -R -S -s -X' }],
  [
    'ssh',
    {
      as: 'host',
      first: true,
      valued: '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w',
    },
  ],
  ['ssh-copy-id', { as: 'host', valued: '-i -p -o -F' }],
  ['mosh', { as: 'host', first: true, valued: '-p' }],
  ['autossh', { as: 'host', first: true, valued: '-M -i -p -o -L -R -D' }],
  ['sshfs', { as: 'path', valued: '-p -o -F' }],
  // An archive on another machine.
  ['tar', { as: 'path', valued: '-C --directory -T --files-from -X --exclude-from' }],
  ['cpio', { as: 'path', valued: '' }],
  ['mt', { as: 'path', valued: '' }],
  ['rmt', { as: 'path', valued: '' }],
  ['unison', { as: 'path', valued: '' }],
  ['borg', { as: 'path', valued: '' }],
  ['darcs', { as: 'path', valued: '' }],
  ['rdiff-backup', { as: 'path', valued: '' }],
  ['rclone', { as: 'path', valued: '' }],
  ['croc', { as: 'path', valued: '' }],
  ['wormhole', { as: 'path', valued: '' }],
  [
    'curl',
    {
      as: 'url',
      valued:
        '-A --user-agent -b --cookie -c --cookie-jar -C -d --data --data-raw --data-binary ' +
        '--data-urlencode --json -D --dump-header -e --referer -E --cert -F --form -H ' +
        '--header -m --max-time --connect-timeout -o --output -r --range --retry ' +
        '--retry-delay --retry-max-time -T --upload-file -u --user -w --write-out -X ' +
        '--request -y -Y -z --cacert ' +
        '--key --max-redirs --output-dir --limit-rate',
      texts:
        '-A --user-agent -d --data --data-raw --data-binary --data-urlencode --json -F --form ' +
        '-H --header -u --user -w --write-out -X --request',
    },
  ],
  [
    'wget',
    {
      as: 'url',
      valued:
        '-O --output-document -o --output-file -a -t --tries -T --timeout -w --wait -P ' +
        '--directory-prefix -U --user-agent --header --post-data --user --password -D -A -R ' +
        '-I -X ' +
        '-l --level -Q',
    },
  ],
]);

/** The short forms of hosts in package managers. */
const shortHosts: ReadonlyMap<string, string> = new Map([
  ['github', 'github.com'],
  ['gitlab', 'gitlab.com'],
  ['bitbucket', 'bitbucket.org'],
  ['gist', 'gist.github.com'],
]);

/** The hosts that a program reads from its words without a scheme. */
export function hostsOfCommand(
  program: string,
  words: readonly string[],
  exists: (path: string) => boolean,
): readonly string[] {
  if (/^(?:npm|pnpm|yarn|bun|npx|bunx|pnpx)$/.test(program)) return packageHosts(words);
  const [first = ''] = words;
  const row = hostRows.get(program === 'git' ? `git ${first}` : program);
  if (row === undefined) return [];
  const hosts: string[] = [];
  const own = program === 'git' ? words.slice(1) : words;
  const valued = new Set(row.valued.split(' '));
  const texts = new Set(row.texts?.split(' '));
  let isDone = false;
  for (const [at, word] of own.entries()) {
    const before = own[at - 1] ?? '';
    const isValue = before.startsWith('-') && !before.includes('=') && takesNext(before, valued);
    const option = /^(?:--[\w-]+=|-[A-Za-z])(.+)$/s.exec(word)?.[1];
    const isOption = word.startsWith('-') && word !== '-';
    // A host may also be the value of an option: `--remote=host:path`, `-xhost:80`.
    const text = isOption ? option : word;
    const as = isOption || isValue ? 'path' : row.as;
    if (text === undefined || (isDone && !isOption)) continue;
    if (isValue && takesNext(before, texts)) continue;
    const host = hostIn(text, as);
    if (host !== undefined && !(program === 'git' && exists(text))) hosts.push(clean(host));
    if (!isOption && !isValue && row.first === true) isDone = true;
  }
  return hosts;
}

function takesNext(option: string, valued: ReadonlySet<string>): boolean {
  if (valued.has(option)) return true;
  if (option.startsWith('--')) {
    for (const one of valued) if (option.length > 3 && one.startsWith(option)) return true;
    return false;
  }
  // The last letter of several takes it: `-sSo x`.
  return valued.has(`-${option.at(-1)}`);
}

function hostIn(text: string, as: HostRow['as']): string | undefined {
  // `[host]:path`, `[host:22]:path`, `[me@host]:path`.
  const [, inside] = /^(?:[^/@\s]*@)?\[([^\]\s/]+)\]:/.exec(text) ?? [];
  if (inside !== undefined) {
    const named = inside.slice(inside.lastIndexOf('@') + 1);
    return /:.*:/.test(named) ? `[${named}]` : named.replace(/:\d+$/, '');
  }
  if (as === 'path') return /^(?:[^/\s]*@)?([^/@:\s\\=]+):(?!\/\/)/.exec(text)?.[1];
  if (text.includes('://')) return undefined;
  if (as === 'host') return /^(?:[^/\s]*@)?([^/@:\s\\]+)/.exec(text)?.[1];
  const address = `http://${text.replace(/^[\\/]+/, '')}`;
  return URL.canParse(address) ? new URL(address).hostname : undefined;
}

function packageHosts(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const [, name = ''] = /^(?:.+@(?=\w+:))?(\w+):(?!\/\/)/.exec(word) ?? [];
    const host = shortHosts.get(name.toLowerCase());
    return host === undefined ? [] : [host];
  });
}
