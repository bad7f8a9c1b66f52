/** No server of a gateway takes the names of another one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  claimName,
  foreignName,
  type NamingServer,
} from '../../../src/surfaces/gateway/server-names.ts';

const server = (name: string, prefix: string, released: string[] = []): NamingServer => ({
  name,
  prefix,
  release: (tool) => void released.push(`${name} ${tool}`),
});

test.each<[string, string, string, string, boolean]>([
  ['no prefix', '', 'files.', 'files.read', true],
  ['a shorter prefix', 'a.', 'a.b.', 'a.b.c', true],
  ['letters that look alike', '', 'files.', 'fi\u0131es.read', true],
  ['letters of another script', '', 'files.', 'fil\u0435s.read', true],
  ['what clients see instead of it', '', 'files.', 'files_read', true],
  ['the same with another prefix', 'f', 'files.', 'files_read', true],
  ['another name that clients see so', 'a.', 'a_b.', 'a.b_c', false],
  ['a name of its own', '', 'files.', 'read', false],
  ['a longer prefix', 'a.b.', 'a.', 'a.b.c', false],
  ['the same prefix', 'a.', 'a.', 'a.b', false],
])('%s: whether `%s` may not have what `%s` has', (_what, own, other, tool, isForeign) => {
  const [one, two] = [server('one', own), server('two', other)];
  for (const servers of [
    [one, two],
    [two, one],
  ])
    expect(foreignName(one, servers, tool) !== undefined).toBe(isForeign);
});

test('each name belongs to one prefix', () => {
  const prefix = fc
    .array(fc.constantFrom('a', 'b', '.'), { maxLength: 4 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(fc.uniqueArray(prefix, { minLength: 1 }), prefix, (prefixes, tool) => {
      const servers = prefixes.map((one) => server(one, one));
      const offering = servers.filter((one) => tool.startsWith(one.prefix));
      const owners = offering.filter((one) => foreignName(one, servers, tool) === undefined);
      expect(owners).toHaveLength(Math.min(1, offering.length));
    }),
  );
});

test('of servers with one prefix, later ones give a name to the first one', () => {
  const released: string[] = [];
  const servers = ['a', 'b', 'c'].map((name) => server(name, '', released));
  servers.push(server('d', 'd.', released));
  claimName(servers[1] as NamingServer, servers, 'read');
  expect(released).toEqual(['c read']);
});
