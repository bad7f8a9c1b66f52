/**
 * Builds a page from its sources in `browser/`: one HTML text with everything in it. It runs in a
 * checkout only. `npm run build` replaces the modules that call it with the result
 * (`tsup.config.ts`), so the published package needs neither the bundler nor the bundled packages.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** What a page is built from. */
export interface PageSource {
  /** The folder below `browser/`, which has a `main.tsx` and a `main.css`. */
  readonly name: string;
  readonly title: string;
  /** Packages whose code is in the page. Their licences are included. */
  readonly packages: readonly string[];
}

const browser = fileURLToPath(new URL('./browser', import.meta.url));

/** Builds the page. It takes about a tenth of a second. Rejects if the sources have an error. */
export async function buildPage({ name, title, packages }: PageSource): Promise<Page> {
  const { outputFiles } = await build({
    entryPoints: [join(browser, name, 'main.tsx'), join(browser, name, 'main.css')],
    outdir: '/',
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    // The folder of the sources has settings only for the compiler.
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? '';
  const script = textOf('.js');
  const style = textOf('.css');
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
    throw new Error(`The page \`${name}\` has text that would end its script or its styles.`);
  const licences = await Promise.all(packages.map(licenceOf));
  return {
    html:
      '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width,initial-scale=1">' +
      '<meta name="color-scheme" content="light dark"><meta name="referrer" ' +
      `content="no-referrer"><title>${title}</title><link rel="icon" ` +
      `href="${await icon()}">\n<!--\n${licences.join('\n')}-->\n<style>${style}</style></head>` +
      '<body><div id="page"></div>\n<noscript>This page needs ' +
      `JavaScript.</noscript><script>${script}</script></body></html>\n`,
    policy: [
      "default-src 'none'",
      `script-src '${hashOf(script)}'`,
      `style-src '${hashOf(style)}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
  };
}

/** The mark of the project, which the docs have too. */
async function icon(): Promise<string> {
  const svg = await readFile(join(browser, 'parts/logo.svg'), 'base64');
  return `data:image/svg+xml;base64,${svg}`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** The licence of a package, in the form that its authors require. */
async function licenceOf(name: string): Promise<string> {
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  const text = await readFile(join(folder, 'LICENSE'), 'utf8');
  return `This page contains ${name}.\n${text.replaceAll('--', '- -')}`;
}

/** A finished page: one HTML text that loads nothing else. */
export interface Page {
  /** The whole document, with its script and its styles. */
  readonly html: string;
  /** The `Content-Security-Policy` to send with it. It allows this script and these styles only. */
  readonly policy: string;
}
