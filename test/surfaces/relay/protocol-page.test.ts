/** The page on the protocol says what there is: every route, error and event, and no others. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../src/surfaces/relay/http/openapi.ts';
import { errorStatus, rateLimitCodes } from '../../../src/surfaces/relay/http/openapi-errors.ts';
import { type Access, routes } from '../../../src/surfaces/relay/http/route-table.ts';
import { root } from '../../docs/pages.ts';

const page = readFileSync(join(root, 'docs/relay-protocol.md'), 'utf8');
const whoMay: Readonly<Record<Access, RegExp>> = {
  anyone: /^anyone/,
  creator: /^anyone/,
  operator: /^host$/,
  host: /^host$/,
  application: /^application$/,
  agent: /^agent$/,
  either: /^both$/,
};

/** The text below a heading, up to the next one of its level or above. */
function section(heading: string): string {
  const [, text = ''] = page.split(`\n## ${heading}\n`);
  return text.split('\n## ')[0] ?? '';
}

/** The cells of a section's rows that start with something quoted. */
function rowsOf(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/^\| (`.+) \|$/gm)].map(([, row = '']) => row.split(/ ?\| ?/));
}

function sortedSet(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].sort();
}

describe('the page on the protocol', () => {
  const routeRows = rowsOf(section('Routes').split('\n### ')[0] ?? '');

  test('lists exactly the routes, with who may use them', () => {
    const listed = routeRows.flatMap(([cell = '', who]) =>
      [...cell.matchAll(/`(GET|POST|DELETE) (\/[^`]*)`/g)].map(([, method, path]) => ({
        key: `${method} ${path}`,
        who,
      })),
    );
    expect(sortedSet(listed.map(({ key }) => key))).toEqual(
      sortedSet(routes.map(({ method, path }) => `${method} ${path}`)),
    );
    for (const { method, path, access } of routes)
      expect(listed.find(({ key }) => key === `${method} ${path}`)?.who, path).toMatch(
        whoMay[access],
      );
  });

  test('mentions no route elsewhere that does not exist', () => {
    const there = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    const named = [...page.matchAll(/`(GET|POST|DELETE) (\/[^`?\s]*)`/g)].map(
      ([, method, path]) => `${method} ${path}`,
    );
    expect(named.filter((route) => !there.has(route))).toEqual([]);
  });

  test('lists exactly the errors, with their status', () => {
    const listed = Object.fromEntries(
      rowsOf(section('Errors')).map(([name = '', status]) => [
        name.replaceAll('`', ''),
        Number(status),
      ]),
    );
    expect(listed).toEqual(errorStatus);
    for (const code of rateLimitCodes) expect(page).toContain(`\`${code}\``);
  });

  test('lists exactly the events', () => {
    const folder = join(root, 'src/surfaces/relay');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const sent = sources.flatMap((source) =>
      [...source.matchAll(/\bevent: '([a-z-]+)'/g)].map(([, name = '']) => name),
    );
    expect(sent.length).toBeGreaterThan(5);
    expect(
      sortedSet(rowsOf(section('Events')).map(([name = '']) => name.replaceAll('`', ''))),
    ).toEqual(sortedSet(sent));
  });

  test('names each field of each body and answer', () => {
    const { schemas } = openApiDocument.components as { readonly schemas: object };
    const fields: string[] = [];
    JSON.stringify(schemas, (key, value: unknown) => {
      if (key === 'properties') fields.push(...Object.keys(value as object));
      return value;
    });
    // What only the core's own pages tell.
    const elsewhere = new Set(['match', 'uses', 'expiresInMs', 'paths', 'openapi', 'info']);
    const undocumented = sortedSet(fields).filter(
      (field) => !elsewhere.has(field) && !new RegExp(`[\`{ ,"]${field}\\b`).test(page),
    );
    expect(undocumented).toEqual([]);
  });
});
