import { expect, test, vi } from 'vitest';
import { directBody, headerOf, markDirect } from '../../../src/values/http/direct-body.ts';

const request = (headers: Readonly<Record<string, string>> = {}): Request =>
  new Request('http://localhost/', { headers });

test('a request of another server has no direct body, and its headers are read as usual', () => {
  const plain = request({ 'X-Name': 'value' });
  expect(directBody(plain)).toBeUndefined();
  expect(headerOf(plain, 'x-name')).toBe('value');
  expect(headerOf(plain, 'x-other')).toBeNull();
});

test('a marked request has the body and the headers of its server', () => {
  const marked = request({ 'x-name': 'from Headers' });
  const read = async (): Promise<Uint8Array> => new Uint8Array();
  const find = vi.fn((name: string) => (name === 'x-name' ? 'from the server' : null));
  markDirect(marked, read, find);
  expect(directBody(marked)).toBe(read);
  expect(headerOf(marked, 'x-name')).toBe('from the server');
  expect(headerOf(marked, 'x-other')).toBeNull();
  expect(find.mock.calls).toEqual([['x-name'], ['x-other']]);
});

test('a request that is marked without headers keeps its own', () => {
  const marked = request({ 'x-name': 'from Headers' });
  markDirect(marked, async () => undefined);
  expect(headerOf(marked, 'x-name')).toBe('from Headers');
});

test('the marks are not copied to a request that is made from a marked one', () => {
  const marked = request();
  markDirect(
    marked,
    async () => undefined,
    () => 'from the server',
  );
  const copy = new Request(marked);
  expect(directBody(copy)).toBeUndefined();
  expect(headerOf(copy, 'x-name')).toBeNull();
  expect(Object.keys(marked)).toEqual([]);
});
