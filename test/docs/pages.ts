/** The project's texts as the tests of them see them: pages, snippets, links, headings. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** One Markdown file; `path` is relative to the root, with `/`. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** The code of one or more fences that make one module. */
export interface Snippet {
  readonly page: string;
  /** Line of the first fence, from 1. */
  readonly line: number;
  readonly code: string;
}

export interface Link {
  readonly page: string;
  readonly line: number;
  readonly target: string;
}

function page(path: string): Page[] {
  return existsSync(join(root, path))
    ? [{ path, text: readFileSync(join(root, path), 'utf8') }]
    : [];
}

/** README.md and everything below docs, without what `npm run docs` generates there. */
export function guidePages(): Page[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !/^docs\/(?:api|\.vitepress)\//.test(path))
    .sort();
  return ['README.md', ...below].flatMap(page);
}

/** All texts whose links must lead somewhere. */
export function linkedPages(): Page[] {
  return [
    ...guidePages(),
    ...[
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'examples/README.md',
      'test/data/README.md',
    ].flatMap(page),
  ];
}

/**
 * A fence of `ts` begins a module; one of `ts continued` goes on with the module before it on its
 * page.
 */
export function snippetsOf({ path, text }: Page): Snippet[] {
  const snippets: { page: string; line: number; code: string }[] = [];
  for (const { info, line, code } of fencesOf(text)) {
    const [language, ...flags] = info.split(/\s+/);
    if (language !== 'ts') continue;
    const before = snippets.at(-1);
    if (flags.join(' ') === 'continued' && before !== undefined) before.code += `\n${code}`;
    else if (flags.length === 0) snippets.push({ page: path, line, code });
    else
      throw new Error(
        `${path}:${line}: expected a fence of \`ts\` or \`ts continued\`, got \`${info}\``,
      );
  }
  return snippets;
}

/** Every fence, with what stands behind the backticks. */
export function fencesOf(text: string): { info: string; line: number; code: string }[] {
  const fences: { info: string; line: number; code: string }[] = [];
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const info = /^```(.*)$/.exec(lines[index] as string)?.[1];
    if (info === undefined) continue;
    const start = index + 1;
    while (index + 1 < lines.length && lines[index + 1] !== '```') index++;
    index++;
    fences.push({ info: info.trim(), line: start, code: lines.slice(start, index).join('\n') });
  }
  return fences;
}

/** Links and images outside of code. */
export function linksOf({ path, text }: Page): Link[] {
  const prose = withoutFences(text).split('\n');
  return prose.flatMap((line, index) =>
    [...line.replaceAll(/`[^`]*`(?!\])/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map((match) => ({
      page: path,
      line: index + 1,
      target: match[1] as string,
    })),
  );
}

/** The file that a link leads to; undefined where it leads out of the project. */
export function targetOf({ page: from, target }: Link): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [file = ''] = target.split('#');
  return file === '' ? from : posix.normalize(posix.join(dirname(from), file));
}

/** Why a link leads nowhere; undefined where it leads somewhere, or out of the project. */
export function linkFault(link: Link): string | undefined {
  const path = targetOf(link);
  if (path === undefined) return undefined;
  const [, anchor] = link.target.split('#');
  if (path.startsWith('..') || !existsSync(join(root, path))) return `there is no ${path}`;
  if (anchor === undefined) return undefined;
  const anchors = headingsOf(readFileSync(join(root, path), 'utf8')).map(anchorOf);
  return anchors.includes(anchor) ? undefined : `${path} has no heading for #${anchor}`;
}

export function headingsOf(text: string): string[] {
  return [...withoutFences(text).matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1] as string);
}

/** As GitHub makes anchors of headings. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function withoutFences(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, (fence) => fence.replaceAll(/[^\n]/g, ''));
}
