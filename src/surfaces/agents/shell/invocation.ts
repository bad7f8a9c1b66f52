/** One program with its words, divided into options and other words. */

/** A word, by what it may be. A word after an unknown option may be its value. */
interface Part {
  readonly text: string;
  readonly is: 'operand' | 'maybe' | 'option';
}

/** A program with its words. */
export interface Invocation {
  readonly program: string;
  readonly parts: readonly Part[];
  /** The letters of all short options, also of those in one word: `-qf`. */
  readonly letters: ReadonlySet<string>;
  /** Options with their dashes, without a value after `=`. */
  readonly options: readonly string[];
}

/** Most words that are looked at. */
const maxWords = 2_000;

export function invocationOf(program: string, words: readonly string[]): Invocation {
  const valued = optionsWithValue.get(program);
  const parts: Part[] = [];
  const letters = new Set<string>();
  const options: string[] = [];
  let onlyOperands = false;
  for (let at = 0; at < Math.min(words.length, maxWords); at++) {
    const text = words[at] as string;
    if (onlyOperands || !text.startsWith('-') || text === '-') {
      const before = words[at - 1] ?? '';
      const isMaybe = !onlyOperands && before.startsWith('-') && !before.includes('=');
      parts.push({ text, is: isMaybe ? 'maybe' : 'operand' });
      continue;
    }
    if (text === '--') {
      onlyOperands = true;
      continue;
    }
    parts.push({ text, is: 'option' });
    const name = text.split('=', 1)[0] as string;
    options.push(name);
    if (!text.startsWith('--')) for (const letter of text.slice(1, 64)) letters.add(letter);
    if (valued?.has(text) === true) at++;
  }
  return { program, parts, letters, options };
}

/** Whether an option is given: by its name, by a beginning of it, or among other letters. */
export function hasOption({ letters, options }: Invocation, name: string): boolean {
  if (/^-[^-]$/.test(name)) return letters.has(name.slice(1));
  // Some programs have long options with one dash.
  return options.some(
    (given) =>
      given === name ||
      (given.startsWith('--') && given.length > 2
        ? name.startsWith(given) || `-${given}` === name || given === `-${name}`
        : given === name.slice(1)),
  );
}

/** Whether an option is surely given, by its full name. */
export function hasExactly({ options }: Invocation, name: string): boolean {
  return options.includes(name);
}

/** The places after each reading of the next word that is no option. */
export function nextWords({ parts }: Invocation, from: number): readonly number[] {
  const found: number[] = [];
  for (let at = from; at < parts.length; at++) {
    const { is } = parts[at] as Part;
    if (is === 'option') continue;
    found.push(at);
    if (is === 'operand') break;
  }
  return found;
}

/**
 * Options that take the next word, of programs whose sub-commands decide what they do. A word after
 * an option that is not here may be its value or the sub-command, and is read as both.
 */
const table = `
npm --workspace -w --prefix -C --tag --registry --cache --userconfig --loglevel --access --otp
pnpm --filter -F --dir -C --reporter --loglevel --workspace-concurrency --registry --tag --access
yarn --cwd --registry --tag --access
bun --cwd --filter -F --registry --tag --access
cargo --manifest-path --target --target-dir --color --config -Z -C --package -p --registry --index
docker --config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey
docker-compose -f --file -p --project-name --env-file --profile --project-directory
podman --connection -c --url --identity --log-level --root --runroot
kubectl -n --namespace --context --kubeconfig --cluster --user -s --server --token -f -l -o
helm -n --namespace --kube-context --kubeconfig --set -f --values
gh -R --repo --hostname
glab -R --repo
aws --profile --region --output --endpoint-url --query
gcloud --project --account --configuration --format
heroku -a --app -r --remote
redis-cli -h -p -a -n -u --user --pass -s -i -r
mysqladmin -u --user -h --host -P --port
go -C
uv --directory --project --python --config-file --index-url --cache-dir
pip --python --log --proxy --timeout --cache-dir
prisma --schema
systemctl -H --host -M --machine -t --type
unzip -d -x -P
git-lfs --git-dir
`;

const optionsWithValue: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [program = '', ...options] = line.split(' ');
      return [program, new Set(options)];
    }),
);
