/** What a page's examples import is in an install line of that page. */
import { describe, expect, test } from 'vitest';
import { fencesOf, guidePages, type Page } from './pages.ts';

/** Packages that a page names without a line of its own, with the reason. */
const elsewhere: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/fleet.md': { '@opentelemetry/api': 'docs/telemetry.md has its line' },
  'docs/recipes.md': {
    react: 'npm installs it with @ai-sdk/react',
    vitest: 'the recipe is for those who use it',
  },
};

const pages = guidePages().filter(({ path }) => !path.startsWith('docs/decisions/'));

/** Packages that the programs of a page import. Every page's reader has the first two. */
function importedOn({ text }: Page): readonly string[] {
  const found = fencesOf(text)
    .filter(({ info }) => /^(?:tsx?|js)\b/.test(info))
    .flatMap(({ code }) => [...code.matchAll(/\b(?:from|import\(?) ?'((?:@[\w-]+\/)?[\w-]+)[/']/g)])
    .map((match) => match[1] as string);
  return [...new Set(found)].filter((name) => name !== 'host-tools' && name !== 'zod');
}

/** Packages in the install lines of a page. One in a sentence may go on in the next line. */
function installedOn({ text }: Page): readonly string[] {
  return [...text.matchAll(/npm install((?:\s+[@\w][\w./-]*|\s+--[\w-]+)*)/g)].flatMap((match) =>
    (match[1] as string).trim().split(/\s+/),
  );
}

describe.each(pages.map((page) => [page.path, page] as const))('%s', (path, page) => {
  const imported = importedOn(page);

  test('names each package that its examples import in an install line', () => {
    const installed = installedOn(page);
    expect(imported.filter((name) => !installed.includes(name))).toEqual(
      Object.keys(elsewhere[path] ?? {}),
    );
  });

  test('installs host-tools with the packages, where a reader may begin with the line', () => {
    const lines = fencesOf(page.text)
      .filter(({ info }) => info === 'sh')
      .flatMap(({ code }) => code.match(/^npm install .+/gm) ?? []);
    // The step before has installed it.
    const alone = lines.filter((line) => !/ host-tools\b/.test(line) && line !== 'npm install zod');
    expect(alone).toEqual([]);
  });
});
