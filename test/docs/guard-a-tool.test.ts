/** The page of tasks: what it shows in YAML is what it shows in code, and can be loaded. */
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { HostToolRegistry, type Quota, type Rule } from '../../src/index.ts';
import { fencesOf, guidePages } from './pages.ts';

interface Gates {
  readonly rules?: readonly Rule[];
  readonly quotas?: readonly Quota[];
}

const page = guidePages().find(({ path }) => path === 'docs/guard-a-tool.md')!.text;
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((text) => [text.split('\n', 1)[0]!, fencesOf(text)] as const);

const inYaml = sections.flatMap(([title, fences]) => {
  const fence = fences.find(({ info }) => info === 'yaml');
  return fence === undefined ? [] : [[title, parse(fence.code) as Gates] as const];
});

test('most tasks have their lines in YAML', () => {
  expect(inYaml.length).toBeGreaterThan(7);
});

test.each(inYaml)('%s: a registry takes what is shown in YAML', (_, { rules, quotas }) => {
  new HostToolRegistry({ rules, quotas });
});

describe('in code and in YAML the same is shown:', () => {
  const both = inYaml.flatMap(([title, gates]) => {
    const code = sections
      .find(([other]) => other === title)![1]
      .find(({ info }) => info.startsWith('ts'))?.code;
    const literal = /new HostToolRegistry\((\{[\s\S]*?\n\})\)/.exec(code ?? '')?.[1];
    return literal === undefined ? [] : [[title, gates, literal] as const];
  });

  test.each(both)('%s', (_, gates, literal) => {
    expect(JSON.parse(JSON.stringify(runInNewContext(`(${literal})`)))).toEqual(gates);
  });
});
