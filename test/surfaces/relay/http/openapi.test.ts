/** The OpenAPI document is well formed, and matches the table of routes and real answers. */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../../src/surfaces/relay/http/openapi.ts';
import {
  errorStatus,
  errorsOf,
  rateLimitCodes,
} from '../../../../src/surfaces/relay/http/openapi-errors.ts';
import { routes } from '../../../../src/surfaces/relay/http/route-table.ts';
import { frontKit, type Made, registration, type Told } from './app-kit.ts';

// biome-ignore lint/suspicious/noExplicitAny: the test walks a whole document.
const document = openApiDocument as any;
// biome-ignore lint/suspicious/noExplicitAny: the same.
const operations = Object.entries<Record<string, any>>(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** What the specification requires of the parts that this document uses. */
const metaSchema = {
  type: 'object',
  required: ['openapi', 'info', 'paths', 'components'],
  additionalProperties: false,
  properties: {
    openapi: { pattern: '^3\\.1\\.\\d+$' },
    info: {
      type: 'object',
      required: ['title', 'version'],
      additionalProperties: false,
      properties: {
        title: { type: 'string' },
        version: { type: 'string' },
        description: { type: 'string' },
      },
    },
    servers: { type: 'array', items: { type: 'object', required: ['url'] } },
    paths: {
      type: 'object',
      additionalProperties: false,
      patternProperties: {
        '^/': {
          type: 'object',
          additionalProperties: false,
          patternProperties: { '^(get|post|delete)$': { $ref: '#/$defs/operation' } },
        },
      },
    },
    components: {
      type: 'object',
      additionalProperties: false,
      properties: {
        schemas: {
          type: 'object',
          propertyNames: { pattern: '^[A-Za-z0-9._-]+$' },
          additionalProperties: { type: 'object' },
        },
        securitySchemes: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            required: ['type'],
            properties: { type: { enum: ['http', 'apiKey'] } },
          },
        },
      },
    },
  },
  $defs: {
    content: {
      type: 'object',
      minProperties: 1,
      additionalProperties: {
        type: 'object',
        required: ['schema'],
        additionalProperties: false,
        properties: { schema: { type: 'object' } },
      },
    },
    operation: {
      type: 'object',
      required: ['operationId', 'summary', 'responses', 'security'],
      additionalProperties: false,
      properties: {
        operationId: { type: 'string' },
        summary: { type: 'string', minLength: 1 },
        parameters: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'in', 'required', 'schema'],
            additionalProperties: false,
            properties: {
              name: { type: 'string' },
              in: { enum: ['path', 'query', 'header'] },
              required: { type: 'boolean' },
              description: { type: 'string' },
              schema: { type: 'object' },
            },
            if: { properties: { in: { const: 'path' } } },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
            then: { properties: { required: { const: true } } },
          },
        },
        requestBody: {
          type: 'object',
          required: ['content'],
          additionalProperties: false,
          properties: { required: { const: true }, content: { $ref: '#/$defs/content' } },
        },
        responses: {
          type: 'object',
          minProperties: 1,
          additionalProperties: false,
          patternProperties: {
            '^[1-5]\\d\\d$': {
              type: 'object',
              required: ['description'],
              additionalProperties: false,
              properties: {
                description: { type: 'string', minLength: 1 },
                headers: { type: 'object' },
                content: { $ref: '#/$defs/content' },
              },
            },
          },
        },
        security: {
          type: 'array',
          items: { type: 'object', additionalProperties: { type: 'array' } },
        },
      },
    },
  },
};

function checker(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'openapi');
  return ajv;
}

/** Checks an answer against the document. Returns the differences. */
function faultsOf(
  ajv: Ajv2020,
  path: string,
  method: string,
  { status, headers, text, body }: Told,
): unknown {
  const operation = document.paths[path]?.[method];
  const answer = operation?.responses[String(status)];
  if (answer === undefined) return `${method} ${path} says nothing of ${status}: ${text}`;
  if (text === '') return answer.content === undefined ? [] : 'no body';
  const type = headers.get('content-type')!;
  const content = answer.content?.[type];
  if (content === undefined) return `${status} says nothing of ${type}`;
  if (type !== 'application/json') return [];
  const pointer = [
    'paths',
    path,
    method,
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ].map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
  const validate = ajv.compile({ $ref: `openapi#/${pointer.join('/')}` });
  return validate(body) ? [] : validate.errors;
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', () => {
    const validate = new Ajv2020({ strict: false }).compile(metaSchema);
    validate(document);
    expect(validate.errors).toBe(null);
  });

  test('has only references that resolve, and only schemas that are valid and used', () => {
    const text = JSON.stringify(document);
    const used = new Set(
      [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name),
    );
    expect([...used].sort()).toEqual(Object.keys(document.components.schemas).sort());
    const ajv = checker();
    for (const name of used)
      expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` })).not.toThrow();
    const schemes = operations.flatMap(({ operation }) => operation.security.flatMap(Object.keys));
    expect([...new Set(schemes)].sort()).toEqual(
      Object.keys(document.components.securitySchemes).sort(),
    );
  });

  test('has the routes of the table, and no operation id twice', () => {
    expect(operations.map(({ path, method }) => `${method} ${path}`).sort()).toEqual(
      routes
        .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
        .sort(),
    );
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(
      routes.length,
    );
    for (const { path, operation } of operations) {
      const named = (operation.parameters ?? [])
        .filter((one: { in: string }) => one.in === 'path')
        .map(({ name }: { name: string }) => `{${name}}`);
      expect(named).toEqual(path.match(/\{\w+\}/g) ?? []);
    }
  });

  test('describes a body for each route of the table that has one', () => {
    for (const { path, method, body } of routes)
      expect(
        document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()].requestBody !==
          undefined,
        `${method} ${path}`,
      ).toBe(body !== undefined);
  });

  test('lists every error of the source under its status, at some route', () => {
    const folder = new URL('../../../../src/surfaces/relay/', import.meta.url);
    const thrown = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) =>
        [
          ...readFileSync(new URL(file, folder), 'utf8').matchAll(
            /relayError\(\s*(\d{3}),\s*'(\w+)'/g,
          ),
        ].map(([, status, error]) => [error!, Number(status)] as const),
      );
    expect(thrown.length).toBeGreaterThan(20);
    expect(Object.fromEntries(thrown)).toEqual(expect.objectContaining({}));
    for (const [error, status] of thrown)
      expect([error, errorStatus[error]]).toEqual([error, status]);
    const named = new Set(thrown.map(([error]) => error));
    for (const error of ['invalid_json']) named.add(error);
    const documented = new Set([...routes.flatMap(errorsOf), 'not_found']);
    expect([...documented].filter((error) => errorStatus[error] === undefined)).toEqual([]);
    expect(
      Object.keys(errorStatus).filter((error) => !documented.has(error) || !named.has(error)),
    ).toEqual([]);
    expect(new Set(rateLimitCodes).size).toBe(rateLimitCodes.length);
  });

  test('is served at both paths', async () => {
    const { ask } = frontKit();
    for (const url of ['http://relay.test/openapi.json', '/openapi.json'])
      expect((await ask('GET', url)).body).toEqual(openApiDocument);
  });
});

test('real answers match the document', async () => {
  const hostKey = 'a-key-of-the-host';
  const kit = frontKit({ hostKey, pairing: true });
  const ajv = checker();
  const { code, sessionToken, agentToken } = (
    await kit.ask('POST', '', { token: hostKey, body: {} })
  ).body as unknown as Made;
  const of: Record<string, string | undefined> = {
    host: hostKey,
    application: sessionToken,
    agent: agentToken,
  };
  const seen: string[] = [];
  const check = async (
    method: string,
    to: string,
    who: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<void> => {
    const [path = '', query] = to.split('?');
    const template = path
      .replace(code, '{code}')
      .replace(/(?<=requests\/)[^/]+/, '{requestId}')
      .replace(/(?<=approvals\/)[^/]+/, '{approvalId}');
    const told = await kit.ask(
      method,
      `http://relay.test${path}${query === undefined ? '' : `?${query}`}`,
      { token: of[who], body, headers },
    );
    seen.push(`${method} ${template} ${told.status}`);
    expect(
      faultsOf(ajv, template, method.toLowerCase(), told),
      `${method} ${template} ${told.status} ${told.text}`,
    ).toEqual([]);
  };
  await check('GET', '/healthz', '');
  await check('GET', '/readyz', '');
  await check('POST', '/api/sessions', 'host', {});
  await check('POST', '/api/sessions', '', {});
  await check('POST', '/api/sessions', 'host', { a: 1 });
  await check(
    'POST',
    `/api/sessions/${code}/register-tools`,
    'application',
    registration('add', 'host_tool'),
  );
  await check(
    'POST',
    `/api/sessions/${code}/register-tools`,
    'application',
    registration('host_tool'),
  );
  await check('POST', `/api/sessions/${code}/register-tools`, 'application', { pluginType: 5 });
  await check('POST', `/api/sessions/${code}/register-tools`, 'agent', registration('add'));
  await check('POST', `/api/sessions/${code}/register-tools`, 'application', '{');
  await check('POST', `/api/sessions/${code}/register-tools`, 'application', '{}', {
    'Content-Type': 'text/plain',
  });
  await check('POST', `/api/sessions/${code}/update-tools`, 'application', {
    added: registration('more').availableTools,
    removed: ['add', 'nothing'],
    reason: 'x',
  });
  await check('GET', `/api/sessions/${code}/metadata`, 'agent');
  await check('GET', `/api/sessions/${code}/metadata`, 'agent', undefined, {
    'Accept-Version': '1.0.0',
  });
  await check('GET', `/api/sessions/${code}/metadata`, 'agent', undefined, {
    'Accept-Version': '7',
  });
  await check('GET', `/api/sessions/${code}/metadata`, '');
  await check('POST', `/api/sessions/${code}/ticket`, 'agent');
  await check('POST', `/api/sessions/${code}/pair`, '', { side: 'agent' });
  await check('POST', `/api/sessions/${code}/pair`, '', { side: 'agent' });
  await check('GET', `/api/sessions/${code}/stream`, 'application');
  await check('GET', `/api/sessions/${code}/events`, 'agent');
  await check('GET', `/api/sessions/${code}/stream?mode=poll`, 'application');
  await check('GET', `/api/sessions/${code}/stream?after=x`, 'application');
  await check('POST', `/api/sessions/${code}/progress`, 'application', {
    requestId: 'call-1',
    done: 1,
    total: 2,
    message: 'reading',
  });
  await check('POST', `/api/sessions/${code}/progress`, 'application', { requestId: 'call-1' });
  await check('POST', `/api/sessions/${code}/response`, 'application', {
    requestId: 'call-1',
    result: 0,
  });
  await check('POST', `/api/sessions/${code}/response`, 'application', {
    requestId: 'call-2',
    result: 0,
  });
  await check('POST', `/api/sessions/${code}/response`, 'application', { requestId: 'call-2' });
  await check('POST', `/api/sessions/${code}/request`, 'agent', { tool: 'add' });
  await check('POST', `/api/sessions/${code}/request`, 'agent', { tool: 'add', wait: false });
  await check('POST', `/api/sessions/${code}/request`, 'agent', { tool: 'add', requestId: ' ' });
  await check('GET', `/api/sessions/${code}/requests/r-1`, 'agent');
  await check('GET', `/api/sessions/${code}/requests/r-2`, 'agent');
  await check('DELETE', `/api/sessions/${code}/requests/r-1`, 'agent');
  await check('DELETE', `/api/sessions/${code}/requests/r-2`, 'agent');
  await check('POST', `/api/sessions/${code}/approvals/a-1`, 'host', { decision: 'allow_once' });
  await check('POST', `/api/sessions/${code}/approvals/a-2`, 'host', { decision: 'allow_once' });
  await check('POST', `/api/sessions/${code}/approvals/a-1`, 'agent', { decision: 'allow_once' });
  for (let time = 0; time < 10; time++)
    await check('POST', `/api/sessions/${code}/update-tools`, 'application', { removed: ['x'] });
  await check('DELETE', `/api/sessions/${code}`, '');
  await check('DELETE', `/api/sessions/${code}`, 'application');
  await check('DELETE', `/api/sessions/${code}`, 'application');
  expect(seen.filter((line) => line.endsWith(' 429'))).not.toEqual([]);
  expect(seen.map((line) => line.split(' ')[2])).not.toContain('500');
});
