import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { boost, boostDocument, filter, fuzzy, processTerm } from './search.ts';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

const { version, repository } = JSON.parse(read('../../package.json')) as {
  version: string;
  repository: { url: string };
};

/** Where the source is. Until the first release, package.json has a placeholder, which leads nowhere. */
const source = /\.(?:invalid|example|test)(?:\/|$)/.test(repository.url)
  ? undefined
  : repository.url.replace(/^git\+|\.git$/g, '');

/**
 * The groups of the docs' front page, so that the two cannot differ. They are in the order in which
 * people need them; the first four are open.
 */
function guides(): DefaultTheme.SidebarItem[] {
  return read('../README.md')
    .split(/^## (.+)$/m)
    .slice(1)
    .reduce<DefaultTheme.SidebarItem[]>((groups, part, index) => {
      if (index % 2 === 0) groups.push({ text: part, items: [], collapsed: index >= 8 });
      else
        groups.at(-1)?.items?.push(
          ...[...part.matchAll(/\[([^\]]+)\]\(([^)]+)\.md\)/g)].map(([, text = '', page = '']) => ({
            text,
            link: `/${page.replace(/README$/, '')}`,
          })),
        );
      return groups;
    }, []);
}

const sidebar = guides();
// The decisions are no part of the package, so the front page of the docs does not link to them.
sidebar
  .at(-1)
  ?.items?.push({ text: 'Decisions', link: '/decisions/' }, { text: 'API', link: '/api/' });

/**
 * The reference's side bars: every subpath, and the members of the one that is shown. With all
 * members in one side bar, which each page repeats, the site would be ten times as large.
 */
function reference(): DefaultTheme.SidebarMulti {
  // `reference.ts` writes it, with the subpaths nested in one another.
  const tree = JSON.parse(read('../api/typedoc-sidebar.json')) as DefaultTheme.SidebarItem[];
  const subpaths = tree.flatMap(function below(item): { link: string; kinds: typeof tree }[] {
    const { link, items = [] } = item;
    if (link?.endsWith('/') !== true) return [];
    return [{ link, kinds: items.filter((kind) => !kind.link) }, ...items.flatMap(below)];
  });
  const withMembersOf = (shown?: string): DefaultTheme.SidebarItem[] => [
    {
      text: 'API reference',
      link: '/api/',
      items: subpaths.map(({ link, kinds }) => ({
        text: link.slice('/api/'.length, -1),
        link,
        ...(link === shown && { items: kinds.map((kind) => ({ ...kind, collapsed: false })) }),
      })),
    },
  ];
  return Object.fromEntries([
    ['/api/', withMembersOf()],
    ...subpaths.map(({ link }) => [link, withMembersOf(link)]),
  ]);
}

export default defineConfig({
  lang: 'en',
  title: 'host-tools',
  description:
    'Put rules, approvals, timeouts and an audit trail between your functions and any AI agent.',
  cleanUrls: true,
  // One file with the addresses of all pages instead of a copy in each page.
  metaChunk: true,
  // These folders have a README, as GitHub likes it.
  rewrites: { 'decisions/README.md': 'decisions/index.md', 'README.md': 'pages.md' },
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }],
    ['meta', { name: 'theme-color', content: '#4f46e5' }],
  ],
  markdown: {
    theme: { light: 'github-light', dark: 'github-dark' },
    // Anchors as GitHub makes them, so that the same links work there, in an editor and here.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .trim()
          .replaceAll(' ', '-'),
    },
  },
  themeConfig: {
    logo: '/logo.svg',
    siteTitle: `host-tools ${version}`,
    ...(source !== undefined && {
      editLink: { pattern: `${source}/edit/main/docs/:path`, text: 'Edit this page' },
    }),
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          options: { processTerm },
          searchOptions: { boost, boostDocument, filter, fuzzy },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/getting-started', activeMatch: '^/(?!api/|recipes|$)' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      ...(source === undefined ? [] : [{ text: 'Source', link: source }]),
    ],
    sidebar: { '/': sidebar, ...reference() },
  },
});
