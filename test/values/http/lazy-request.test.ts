import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { directBody, headerOf } from '../../../src/values/http/direct-body.ts';
import { lazyRequest, wholeRequest } from '../../../src/values/http/lazy-request.ts';
import { bytesOf, FakeOutgoing, type IncomingParts, incomingOf, responseOf } from './node-kit.ts';

const makers = [
  ['lazyRequest', lazyRequest],
  ['wholeRequest', wholeRequest],
] as const;

function requestOf(make: typeof lazyRequest, parts: IncomingParts = {}): Request {
  return make(incomingOf(parts), responseOf(new FakeOutgoing()));
}

function readDirectly(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  const read = directBody(request);
  if (read === undefined) throw new Error('Expected the request to have a direct body');
  return read(maxBytes);
}

describe.each(makers)('a request of %s', (_name, make) => {
  test('is a Request with the members of the incoming one', async () => {
    const request = requestOf(make, {
      rawHeaders: ['Content-Type', 'text/plain', 'X-A', '1', 'x-a', '2'],
      body: [bytesOf('hello '), bytesOf('world')],
    });
    expect(request).toBeInstanceOf(Request);
    expect(String(request)).toBe('[object Request]');
    expect([request.method, request.url, request.headers.get('x-a')]).toEqual([
      'POST',
      'http://localhost/path?query=1',
      '1, 2',
    ]);
    expect([request.mode, request.redirect, request.bodyUsed]).toEqual(['cors', 'follow', false]);
    expect(await request.text()).toBe('hello world');
    expect(request.bodyUsed).toBe(true);
  });

  test('can be read as JSON, as bytes and as a stream, and cloned', async () => {
    const body = [bytesOf('[1,2]')];
    expect(await requestOf(make, { body }).json()).toEqual([1, 2]);
    expect((await requestOf(make, { body }).arrayBuffer()).byteLength).toBe(5);
    expect(await new Response(requestOf(make, { body }).body).text()).toBe('[1,2]');
    const cloned = requestOf(make, { body }).clone();
    expect(await cloned.text()).toBe('[1,2]');
  });

  test('of GET has no body', () => {
    expect(requestOf(make, { method: 'GET' }).body).toBeNull();
  });

  test('has a signal that aborts when its client goes away', () => {
    const outgoing = new FakeOutgoing();
    const { signal } = make(incomingOf(), responseOf(outgoing));
    expect(signal.aborted).toBe(false);
    outgoing.destroy();
    expect(signal.aborted).toBe(true);
  });
});

describe('the lazy request', () => {
  test('returns the same headers and the same signal each time', () => {
    const request = requestOf(lazyRequest);
    expect(request.headers).toBe(request.headers);
    expect(request.signal).toBe(request.signal);
  });

  test('listens to its client only once its signal is read', () => {
    const outgoing = new FakeOutgoing();
    const request = lazyRequest(incomingOf(), responseOf(outgoing));
    expect(outgoing.listenerCount('close')).toBe(0);
    expect(request.signal.aborted).toBe(false);
    expect(outgoing.listenerCount('close')).toBe(1);
  });

  test('does not read the URL or the headers of a request that it is not asked for', () => {
    const incoming = incomingOf({ rawHeaders: ['bad name', 'x'] });
    const request = lazyRequest(incoming, responseOf(new FakeOutgoing()));
    expect(headerOf(request, 'host')).toBeNull();
    expect(() => request.headers).toThrow(TypeError);
  });
});

describe('a header that is read directly', () => {
  test('is the one that Headers would have, whatever was sent', () => {
    const name = fc.constantFrom('Host', 'host', 'HOST', 'X-A', 'x-a', '__proto__', 'constructor');
    const value = fc.stringMatching(/^[!-~]{0,10}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 8 }), (pairs) => {
        const request = requestOf(lazyRequest, { rawHeaders: pairs.flat() });
        for (const wanted of ['host', 'x-a', '__proto__', 'constructor', 'toString', 'absent'])
          expect(headerOf(request, wanted)).toBe(request.headers.get(wanted));
      }),
    );
  });

  test('joins a repeated Host, so that no check passes with only the first', () => {
    const rawHeaders = ['Host', 'localhost', 'Host', 'evil.test'];
    expect(headerOf(requestOf(lazyRequest, { rawHeaders }), 'host')).toBe('localhost, evil.test');
  });
});

describe('a body that is read directly', () => {
  test('is whole, from one chunk or from several', async () => {
    for (const body of [[bytesOf('one two')], [bytesOf('one '), bytesOf('two')]])
      expect(String(await readDirectly(requestOf(lazyRequest, { body }), 7))).toBe('one two');
  });

  test('is empty if nothing was sent', async () => {
    expect((await readDirectly(requestOf(lazyRequest), 0))?.byteLength).toBe(0);
  });

  test('is undefined if it declares more than the limit, and is not read', async () => {
    const incoming = incomingOf({
      rawHeaders: ['Content-Length', '8'],
      body: [bytesOf('eight by')],
    });
    const request = lazyRequest(incoming, responseOf(new FakeOutgoing()));
    expect(await readDirectly(request, 7)).toBeUndefined();
    expect(incoming.readableDidRead).toBe(false);
  });

  test('is undefined once more than the limit has come, and the rest waits unread', async () => {
    const stream = new PassThrough();
    const incoming = incomingOf({ body: () => stream });
    const reading = readDirectly(lazyRequest(incoming, responseOf(new FakeOutgoing())), 7);
    stream.write('four');
    stream.write('more');
    expect(await reading).toBeUndefined();
    expect(incoming.isPaused()).toBe(true);
    for (const event of ['data', 'end', 'error'])
      expect([event, incoming.listenerCount(event)]).toEqual([event, 0]);
    stream.destroy();
  });

  test.each<[string, (stream: PassThrough) => void]>([
    ['is cut off', (stream) => stream.destroy()],
    ['fails', (stream) => stream.destroy(new Error('ECONNRESET'))],
  ])('rejects if its client %s', async (_what, end) => {
    const stream = new PassThrough();
    // Node itself handles the error of a request whose socket failed.
    stream.on('error', () => {});
    const reading = readDirectly(requestOf(lazyRequest, { body: () => stream }), 100);
    stream.write('half');
    end(stream);
    await expect(reading).rejects.toThrow('The client went away');
  });

  test('rejects if it was read before, in either way', async () => {
    const body = [bytesOf('once')];
    const direct = requestOf(lazyRequest, { body });
    await readDirectly(direct, 100);
    await expect(readDirectly(direct, 100)).rejects.toThrow('read before');
    const whole = requestOf(lazyRequest, { body });
    await whole.text();
    await expect(readDirectly(whole, 100)).rejects.toThrow('read before');
  });

  test('rejects if its client is already gone', async () => {
    const stream = new PassThrough();
    stream.destroy();
    const request = requestOf(lazyRequest, { body: () => stream });
    await expect(readDirectly(request, 100)).rejects.toThrow('has gone away');
  });
});
