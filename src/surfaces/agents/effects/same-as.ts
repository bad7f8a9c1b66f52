/** Commands that are other names of a command: modules of an interpreter, versions, toolchains. */

/** A command that another one stands for. */
interface Same {
  readonly program: string;
  readonly words: readonly string[];
}

/** Most names that are followed. */
const mostNames = 4;

export function sameAs(program: string, words: readonly string[]): Same {
  let same: Same = { program: plainName(program), words };
  for (let left = mostNames; left > 0; left--) {
    const next = nextName(same);
    if (next === undefined) break;
    same = { program: plainName(next.program), words: next.words };
  }
  return same;
}

/** Without a version: `python3.12`, `pip3`, `terraform1.5`. */
function plainName(program: string): string {
  return program.replace(/^(python|pypy|pip|gem|ruby|php|node|terraform|lua|perl)[\d.]+$/, '$1');
}

function nextName({ program, words }: Same): Same | undefined {
  const [first = '', second] = words;
  if (program === 'python' || program === 'pypy') return moduleOf(words);
  // `py -m pip` on Windows.
  if (first.startsWith('+') && /^(?:cargo|rustc|rustdoc)$/.test(program))
    return { program, words: words.slice(1) };
  if (program === 'yarn' && first === 'npm') return { program: 'npm', words: words.slice(1) };
  if (program === 'yarn' && first === 'workspace') return { program, words: words.slice(2) };
  if (program === 'yarn' && first === 'workspaces' && second === 'foreach')
    return { program, words: withoutOptions(words.slice(2)) };
  if (program === 'uv' && first === 'pip') return { program: 'pip', words: words.slice(1) };
  if (program === 'docker' && first === 'compose')
    return { program: 'docker-compose', words: words.slice(1) };
  if (
    /^(?:php|ruby|node)$/.test(program) &&
    /^(?:.*\/)?(?:artisan|console|rails|rake)$/.test(first)
  )
    return { program: first.slice(first.lastIndexOf('/') + 1), words: words.slice(1) };
  if (installedRunners.has(program) && first === 'run' && second?.startsWith('-') === false)
    return { program: second, words: words.slice(2) };
  return undefined;
}

function withoutOptions(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => !word.startsWith('-'));
  return at === -1 ? [] : words.slice(at);
}

/**
 * Package managers that run what the project has installed, if they have no command of that name:
 * `pnpm prisma migrate`.
 */
export function installedBy(program: string, words: readonly string[]): Same | undefined {
  if (!/^(?:pnpm|yarn|bun)$/.test(program)) return undefined;
  const [name, ...rest] = withoutOptions(words);
  return name === undefined ? undefined : { program: name, words: rest };
}

/** Runners of what the project has installed: the words after `run` are a command of its own. */
const installedRunners = new Set(['poetry', 'pipenv', 'pdm', 'hatch', 'rye', 'uv']);

/** `python -m twine upload`, `python -Im twine upload`, `python -mtwine upload`. */
function moduleOf(words: readonly string[]): Same | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (/^-[WX]$/.test(word)) at++;
    else if (!word.startsWith('-')) {
      // A script: `python manage.py flush`.
      const name = word.slice(word.lastIndexOf('/') + 1);
      return /^(?:manage|setup)\.py$/.test(name)
        ? { program: name, words: words.slice(at + 1) }
        : undefined;
    }
    const [, joined] = /^-[A-Za-z]*?m(.*)$/.exec(word) ?? [];
    if (joined === undefined || word.startsWith('--')) continue;
    const module = joined === '' ? words[at + 1] : joined;
    if (module === undefined) return undefined;
    return {
      program: module.replace(/\.__main__$/, ''),
      words: words.slice(at + (joined === '' ? 2 : 1)),
    };
  }
  return undefined;
}
