import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { bodyStream, headersOf, requestOf, urlOf } from '../../../src/values/http/node-request.ts';
import { bytesOf } from './node-kit.ts';

describe('headers', () => {
  test('are the raw ones; the values of a repeated name are joined', () => {
    const headers = headersOf({ rawHeaders: ['Accept', 'a', 'X-One', '1', 'accept', 'b'] });
    expect([...headers]).toEqual([
      ['accept', 'a, b'],
      ['x-one', '1'],
    ]);
  });

  test('do not contain the request line of HTTP/2', () => {
    const rawHeaders = [':method', 'GET', ':authority', 'evil.test', 'host', 'localhost'];
    expect([...headersOf({ rawHeaders })]).toEqual([['host', 'localhost']]);
  });

  test('are data: names such as __proto__ change no object', () => {
    const headers = headersOf({ rawHeaders: ['__proto__', 'x', 'constructor', 'y'] });
    expect(headers.get('__proto__')).toBe('x');
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('with an odd number of entries lose the last name', () => {
    expect([...headersOf({ rawHeaders: ['a', '1', 'b'] })]).toEqual([['a', '1']]);
  });

  test.each([
    ['a name', ['na me', 'x']],
    ['a value with a line break', ['name', 'x\r\nset-cookie: y']],
    ['a value with a zero byte', ['name', 'x\u0000']],
  ])('that HTTP does not allow throw: %s', (_what, rawHeaders) => {
    expect(() => headersOf({ rawHeaders })).toThrow(TypeError);
  });
});

describe('the URL', () => {
  test.each([
    ['a path', '/a%20b?c=d', 'http://localhost/a%20b?c=d'],
    ['no path', undefined, 'http://localhost/'],
    ['an empty path', '', 'http://localhost/'],
    ['an absolute URL, as proxies send it', 'http://evil.test/path', 'http://localhost/'],
    ['an asterisk', '*', 'http://localhost/'],
    ['an authority, as CONNECT sends it', 'evil.test:443', 'http://localhost/'],
  ])('of %s', (_what, url, expected) => {
    expect(urlOf({ url })).toBe(expected);
  });

  test('keeps its host, whatever the path contains', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webPath(), fc.webUrl()), (url) => {
        for (const given of [url, `/${url}`, `//${url}`, `/\\${url}`])
          expect(new URL(urlOf({ url: given })).host).toBe('localhost');
      }),
    );
  });
});

describe('a request', () => {
  const { signal } = new AbortController();

  test('has method, URL, headers and body', async () => {
    const headers = new Headers({ 'content-type': 'text/plain' });
    const made = requestOf({ method: 'PUT', url: '/x' }, headers, signal, () => 'text');
    expect([made.method, made.url, made.headers.get('content-type'), await made.text()]).toEqual([
      'PUT',
      'http://localhost/x',
      'text/plain',
      'text',
    ]);
  });

  test.each(['GET', 'HEAD', undefined])('of %s has no body, and none is asked for', (method) => {
    const body = vi.fn(() => 'text');
    const made = requestOf({ method, url: '/' }, new Headers(), signal, body);
    expect([made.method, made.body]).toEqual([method ?? 'GET', null]);
    expect(body).not.toHaveBeenCalled();
  });

  test('is aborted by its signal', () => {
    const gone = new AbortController();
    const made = requestOf({ method: 'POST' }, new Headers(), gone.signal, () => '');
    gone.abort();
    expect(made.signal.aborted).toBe(true);
  });

  test.each(['TRACE', 'CONNECT', 'BAD METHOD', ''])(
    'of %j, which a web-standard request cannot have, throws',
    (method) => {
      expect(() => requestOf({ method }, new Headers(), signal, () => '')).toThrow(TypeError);
    },
  );
});

describe('a body stream', () => {
  test('takes a chunk only when one is read', async () => {
    const next = vi.fn(async () => ({ done: false as const, value: bytesOf('x') }));
    const reader = bodyStream({ next }).getReader();
    expect(next).not.toHaveBeenCalled();
    await reader.read();
    expect(next).toHaveBeenCalledOnce();
    await reader.cancel();
  });

  test('ends with its chunks', async () => {
    const chunks = (async function* () {
      yield bytesOf('one ');
      yield bytesOf('two');
    })();
    expect(await new Response(bodyStream(chunks)).text()).toBe('one two');
  });

  test('fails if its chunks fail', async () => {
    const chunks = { next: () => Promise.reject(new Error('aborted')) };
    await expect(bodyStream(chunks).getReader().read()).rejects.toThrow('aborted');
  });

  test('says once that its rest will not be read', async () => {
    const onCancel = vi.fn();
    const stream = bodyStream({ next: () => new Promise(() => {}) }, onCancel);
    await stream.cancel();
    await stream.cancel();
    expect(onCancel).toHaveBeenCalledOnce();
  });
});
