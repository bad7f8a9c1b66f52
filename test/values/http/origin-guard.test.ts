import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  corsHeaders,
  isHostAllowed,
  isOriginAllowed,
  listedOrigin,
  type OriginPolicy,
  preflightHeaders,
} from '../../../src/values/http/origin-guard.ts';

/** As an MCP handler on a developer's machine has it. */
const local: OriginPolicy = {
  allowedHosts: undefined,
  allowedOrigins: undefined,
  unlistedHosts: 'loopback',
  unlistedOrigins: 'loopback',
  spelling: 'normalized',
};
/** As a relay has it. */
const deployed: OriginPolicy = {
  allowedHosts: undefined,
  allowedOrigins: undefined,
  unlistedHosts: 'any',
  unlistedOrigins: 'own',
  spelling: 'exact',
};

/** Only `get` of the headers is read, so a header may have values that `Headers` would refuse. */
function requestWith(headers: Readonly<Record<string, string>>): Request {
  const get = (name: string): string | null => headers[name] ?? null;
  return { url: 'http://localhost/', headers: { get } } as unknown as Request;
}
const atHost = (host: string): Request => requestWith({ host });
const fromPage = (origin: string, host = 'localhost:4040'): Request =>
  requestWith({ host, origin });

const page = 'https://app.example.com';

describe('the Host of a request, when only loopback names are accepted', () => {
  test.each(['localhost', 'LOCALHOST:80', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:3000'])(
    '%j is accepted',
    (host) => {
      expect(isHostAllowed(atHost(host), local)).toBe(true);
    },
  );

  test.each([
    ['another host', 'evil.test'],
    ['a name that begins like ours', 'localhost.evil.test'],
    ['a name that ends like ours', 'evil-localhost'],
    ['another name for the same address', '127.1'],
    ['the address as a number', '2130706433'],
    ['the address in hexadecimal', '0x7f000001'],
    ['all addresses of the machine', '0.0.0.0'],
    ['IPv6 without brackets', '::1'],
    ['another spelling of the IPv6 loopback', '[0:0:0:0:0:0:0:1]'],
    ['IPv4 written as IPv6', '[::ffff:127.0.0.1]'],
    ['a user part', 'localhost@evil.test'],
    ['a user part with a port', 'localhost:80@evil.test'],
    ['a path', 'localhost/evil.test'],
    ['a query', 'localhost?evil.test'],
    ['a fragment', 'localhost#evil.test'],
    ['a backslash', 'localhost\\evil.test'],
    ['two hosts, as a repeated header is joined', 'localhost, evil.test'],
    ['a dot at the end, which DNS accepts', 'localhost.'],
    ['a port that is no number', 'localhost:http'],
    ['a port with too many digits', 'localhost:123456'],
    ['an empty port', 'localhost:'],
    ['a letter that looks like one of ours', 'l\u043ecalhost'],
    ['nothing', ''],
    ['blanks', '  '],
    ['a line break after our name', 'localhost\n'],
    ['a zero byte after our name', 'localhost\u0000'],
  ])('%s is refused: %j', (_what, host) => {
    expect(isHostAllowed(atHost(host), local)).toBe(false);
  });

  test('without the header, the URL of the request counts', () => {
    const at = (url: string): Request => new Request(url);
    expect(isHostAllowed(at('http://localhost:3000/mcp'), local)).toBe(true);
    expect(isHostAllowed(at('http://evil.test/mcp'), local)).toBe(false);
  });
});

describe('the Host of a request, when hosts are listed', () => {
  const listed: OriginPolicy = {
    ...local,
    allowedHosts: new Set(['mcp.example.com', 'other.example.com:8443']),
  };

  test.each([
    ['a name for any port', 'mcp.example.com', true],
    ['a name for any port', 'mcp.example.com:8080', true],
    ['in any case', 'MCP.Example.COM', true],
    ['a name with its port', 'other.example.com:8443', true],
    ['a name with another port', 'other.example.com:80', false],
    ['a name without its port', 'other.example.com', false],
    ['a subdomain', 'a.mcp.example.com', false],
    ['the loopback, which is no longer an exception', 'localhost', false],
  ])('%s: %j is %j', (_what, host, allowed) => {
    expect(isHostAllowed(atHost(host), listed)).toBe(allowed);
    expect(isHostAllowed(atHost(host), { ...listed, unlistedHosts: 'any' })).toBe(allowed);
  });

  test('an empty list accepts none', () => {
    expect(isHostAllowed(atHost('localhost'), { ...local, allowedHosts: new Set() })).toBe(false);
  });
});

test('any Host is accepted if none are listed and the server asks for a token instead', () => {
  for (const host of ['relay.example.com', 'localhost@evil.test', ''])
    expect(isHostAllowed(atHost(host), deployed)).toBe(true);
});

describe('a page, when pages of the loopback are accepted', () => {
  test.each(['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:1', 'HTTP://LOCALHOST'])(
    '%s is accepted',
    (origin) => {
      expect(isOriginAllowed(fromPage(origin), local)).toBe(true);
    },
  );

  test.each([
    'https://evil.test',
    'http://localhost.evil.test',
    'http://evil.test/localhost',
    'http://evil.test#localhost',
    'file://',
    'file://localhost',
    'ftp://localhost',
    'chrome-extension://localhost',
    'data:text/html,localhost',
    'null',
    'undefined',
    'localhost',
    '//localhost',
    '',
    ' ',
    'http://localhost, http://evil.test',
  ])('%j is refused', (origin) => {
    expect(isOriginAllowed(fromPage(origin), local)).toBe(false);
  });

  test('a request without an Origin is accepted, because it comes from no page', () => {
    for (const policy of [local, deployed])
      expect(isOriginAllowed(atHost('localhost'), policy)).toBe(true);
  });

  test('a list takes the place of the exception for the loopback', () => {
    const listed: OriginPolicy = { ...local, allowedOrigins: new Set([page]) };
    expect(isOriginAllowed(fromPage(page), listed)).toBe(true);
    expect(isOriginAllowed(fromPage('http://localhost:5173'), listed)).toBe(false);
    expect(
      isOriginAllowed(fromPage('http://localhost:5173'), { ...local, allowedOrigins: new Set() }),
    ).toBe(false);
  });
});

describe("a page, when pages of the server's own host are accepted", () => {
  const named: OriginPolicy = {
    ...deployed,
    allowedHosts: new Set(['relay.example.com', 'ported.example.com:8443']),
  };

  test.each([
    ['a loopback page', 'http://localhost:4040', 'localhost:4040', true],
    ['a loopback page of another port', 'http://localhost:5173', 'localhost:4040', false],
    ['a loopback page of another name', 'http://127.0.0.1:4040', 'localhost:4040', false],
    ['a page of a listed host', 'https://relay.example.com', 'relay.example.com', true],
    [
      'a page of a listed host and port',
      'https://ported.example.com:8443',
      'ported.example.com:8443',
      true,
    ],
    ['a page of another port', 'https://relay.example.com:1', 'relay.example.com', false],
    ['a page whose host is our Host and not listed', 'http://evil.test', 'evil.test', false],
    ['a page that is not of the web', 'ftp://localhost', 'localhost', false],
    ['a page with a user part', 'http://localhost:4040@evil.test', 'localhost:4040', false],
    ['an Origin without a host', 'http://', 'localhost', false],
    ['an opaque page', 'null', 'null', false],
  ])('%s: %s at %s is %j', (_what, origin, host, allowed) => {
    expect(isOriginAllowed(fromPage(origin, host), named)).toBe(allowed);
  });

  test('a list adds to them', () => {
    const listed: OriginPolicy = { ...named, allowedOrigins: new Set([page]) };
    expect(isOriginAllowed(fromPage(page, 'relay.example.com'), listed)).toBe(true);
    expect(isOriginAllowed(fromPage('http://localhost:4040'), listed)).toBe(true);
    expect(isOriginAllowed(fromPage('https://evil.test'), listed)).toBe(false);
  });
});

describe('a listed origin', () => {
  const exact: OriginPolicy = { ...deployed, allowedOrigins: new Set([page]) };
  const normalized: OriginPolicy = { ...local, allowedOrigins: new Set([page]) };

  test.each([
    ['the same text', page, true, true],
    ['upper case', 'HTTPS://APP.EXAMPLE.COM', false, true],
    ['the default port', 'https://app.example.com:443', false, true],
    ['a slash at the end', 'https://app.example.com/', false, true],
    ['another scheme', 'http://app.example.com', false, false],
    ['another port', 'https://app.example.com:8443', false, false],
    ['a longer host', 'https://app.example.com.evil.test', false, false],
    ['a user part', 'https://app.example.com@evil.test', false, false],
    ['the opaque origin', 'null', false, false],
    ['text that is no URL', 'https://', false, false],
  ])('%s: %s is %j by its exact text, %j in normal form', (_what, origin, asText, asUrl) => {
    expect(listedOrigin(fromPage(origin), exact)).toBe(asText ? origin : undefined);
    expect(listedOrigin(fromPage(origin), normalized)).toBe(asUrl ? origin : undefined);
  });

  test('with "*" every origin is listed, also an opaque one', () => {
    for (const origin of [page, 'null', 'https://evil.test'])
      expect(listedOrigin(fromPage(origin), { ...exact, allowedOrigins: '*' })).toBe(origin);
  });

  test('is undefined for a request without an Origin', () => {
    expect(listedOrigin(atHost('localhost'), { ...exact, allowedOrigins: '*' })).toBeUndefined();
  });

  test('is not one that is accepted without being listed, so it gets no CORS headers', () => {
    const origin = 'http://localhost:4040';
    for (const policy of [local, deployed]) {
      expect(isOriginAllowed(fromPage(origin), policy)).toBe(true);
      expect(listedOrigin(fromPage(origin), policy)).toBeUndefined();
    }
  });
});

describe('CORS headers', () => {
  test('name the origin and the headers that a page may read, and never allow credentials', () => {
    expect(corsHeaders(page, { ...deployed, allowedOrigins: new Set([page]) }, 'ETag')).toEqual({
      'Access-Control-Allow-Origin': page,
      'Access-Control-Expose-Headers': 'ETag',
    });
  });

  test('name any origin if any is accepted', () => {
    expect(
      corsHeaders(page, { ...deployed, allowedOrigins: '*' }, 'ETag')[
        'Access-Control-Allow-Origin'
      ],
    ).toBe('*');
  });

  test('of a preflight name methods and headers, for ten minutes', () => {
    expect(preflightHeaders('GET, POST', 'Authorization')).toEqual({
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': 'Authorization',
      'Access-Control-Max-Age': '600',
    });
  });
});

test('any text as Host and Origin gets an answer, and no page of another host is let in', () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('localhost', ':', '@', '/', '\\', '.', 'http://', '[::1]', '127.0.0.1', '80'),
  );
  const text = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(''));
  const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);
  fc.assert(
    fc.property(text, text, (host, origin) => {
      const request = requestWith({ host, origin });
      if (isHostAllowed(request, local))
        expect(loopback.has(new URL(`http://${host}`).hostname)).toBe(true);
      for (const policy of [local, deployed])
        if (isOriginAllowed(request, policy))
          expect(loopback.has(new URL(origin).hostname)).toBe(true);
    }),
  );
});
