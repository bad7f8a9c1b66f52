/**
 * The package as its users get it: packed, installed in an empty project, imported and compiled
 * there. All of it happens in a temporary folder, so that neither `dist` nor another test is touched.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { builtinModules, SourceMap } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { build } from 'esbuild';
import ts from 'typescript';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { partFiles } from '../tsup.config.ts';
import { application, consumer } from './compat/programs.ts';
import { recipe, wordsOf } from './examples/relay-container.ts';

/**
 * Exported types that say `any`, each with its reason. Everywhere else it would switch a host's
 * type checks off.
 */
const anyAllowed: Readonly<Record<string, string>> = {
  Schema: 'a Standard Schema of any input and output: `unknown` would refuse those that narrow',
};

/** Prints, as JSON, what a host sees of the installed package at run time. */
const inspection = `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const specifiers = process.argv.slice(2);
const modules = await Promise.all(specifiers.map((specifier) => import(specifier)));
const seen = new Map();
const twins = [];
for (const [index, module] of modules.entries()) {
  for (const [name, value] of Object.entries(module)) {
    if (seen.has(name) && seen.get(name) !== value) twins.push(name);
    seen.set(name, value);
    if (require(specifiers[index])[name] !== value) twins.push('require: ' + name);
  }
}
const { HostToolRegistry } = await import('host-tools');
const { mockTool } = await import('host-tools/testing');
const core = await import('host-tools/core');
const registry = new HostToolRegistry();
registry.register(mockTool({ name: 'echo', output: 'hi' }));
const result = await registry.createSession({ sessionId: 'session-1' }).call('echo', {});
console.log(JSON.stringify({ names: modules.map((module) => Object.keys(module).length), twins, output: result.output, error: result.error, extended: registry instanceof core.HostToolRegistry }));
`;

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  files: string[];
  bin: Record<string, string>;
  exports: Record<string, string | { types: string; default: string }>;
  scripts: Record<string, string>;
  publishConfig: object;
};
const specifiers = Object.keys(manifest.exports)
  .filter((subpath) => !subpath.endsWith('.json'))
  .map((subpath) => manifest.name + subpath.slice(1));

/** What a hook runs, and the texts of what is bundled with it. */
const hookBundle = ['dist/hook/hook.cjs', 'dist/hook/hook-judge.cjs', 'dist/hook/LICENSES.txt'];

const { work, built, tarball, files: packed } = inject('packed');
const project = join(work, 'project');

beforeAll(async () => {
  mkdirSync(project);
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  );
  await run(project, 'npm', [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    tarball,
  ]);
}, 600_000);

describe('what is in the package', () => {
  test('has the build, its texts, the schema of tool files and starter rules only', () => {
    expect(
      packed.filter(
        (path) =>
          !/^dist\/(?:relay\/)?[\w-]+(?:\.d-[\w-]{8})?\.(js|js\.map|d\.ts)$|^dist\/hook\/[\w-]+\.c?js$|^docs\/[\w-]+\.md$|^docs\/images\/[\w-]+\.(?:svg|png)$/.test(
            path,
          ),
      ),
    ).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist/LICENSES.txt',
      'dist/hook/LICENSES.txt',
      'host-tools.schema.json',
      'package.json',
      'rules/claude-code.yaml',
      'rules/codex.yaml',
      'rules/copilot-cli.yaml',
      'rules/cursor.yaml',
      'rules/gemini-cli.yaml',
      'rules/opencode.yaml',
      'rules/qwen-code.yaml',
    ]);
  });

  test('every file is an export, the command, a part, or a chunk that entries share', () => {
    const imported = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [] : [target.types.slice(2), target.default.slice(2)],
    );
    const started = [...Object.values(manifest.bin), ...hookBundle];
    const parts = Object.keys(partFiles).map((name) => `dist/${name}.js`);
    const entries = [...imported, ...started, ...parts, 'dist/LICENSES.txt'];
    expect(entries.filter((path) => !packed.includes(path))).toEqual([]);
    const others = packed.filter(
      (path) => path.startsWith('dist/') && !entries.includes(path.replace(/\.map$/, '')),
    );
    expect(others.filter((path) => !/-[\w-]{8}\.(js|js\.map|d\.ts)$/.test(path))).toEqual([]);
  });

  test('every file has a source map without sources, but for those that only the command loads', () => {
    const all = packed.filter((path) => path.endsWith('.js') && !path.startsWith('dist/hook/'));
    const [scripts, own] = [true, false].map((has) =>
      all.filter((path) => packed.includes(`${path}.map`) === has),
    ) as [string[], string[]];
    expect(own).toContain('dist/cli.js');
    const texts = (paths: readonly string[]): string =>
      paths.map((path) => readFileSync(join(built, path), 'utf8')).join('\n');
    const library = texts(scripts);
    const loads = (path: string): boolean =>
      [`/${posix.basename(path)}'`, `/${posix.basename(path)}"`].some((end) =>
        library.includes(end),
      );
    expect(own.filter(loads)).toEqual([]);
    expect(texts(own)).not.toContain('sourceMappingURL');
    for (const path of scripts) {
      const map = JSON.parse(readFileSync(join(built, `${path}.map`), 'utf8')) as {
        sources: string[];
      };
      expect(map, path).not.toHaveProperty('sourcesContent');
      const files = map.sources.map((source) => posix.join(posix.dirname(path), source));
      expect(files.filter((file) => !existsSync(join(built, file)))).toEqual([]);
    }
  });

  test('source maps lead from each function to the file and the line where it is declared', () => {
    const astray = packed
      .filter((path) => path.endsWith('.js.map'))
      .flatMap((path) => {
        const map = new SourceMap(JSON.parse(readFileSync(join(built, path), 'utf8')));
        const sources = new Map<string, string[]>();
        const lineOf = (file: string, line: number): string => {
          const lines = sources.get(file) ?? readFileSync(join(built, file), 'utf8').split('\n');
          sources.set(file, lines);
          return lines[line] ?? '';
        };
        const code = readFileSync(join(built, path.slice(0, -'.map'.length)), 'utf8').split('\n');
        return code.flatMap((text, row) =>
          [...text.matchAll(/\bfunction\*? ?(\w+)\([^()]*\)\{/g)].flatMap((declaration) => {
            const name = declaration[1] as string;
            // The bundler's own.
            if (name.startsWith('__')) return [];
            const entry = map.findEntry(row, declaration.index + declaration[0].indexOf(name));
            if (!('originalSource' in entry)) return [`${path}: ${name} has no source`];
            const file = posix.join(posix.dirname(path), entry.originalSource);
            // These are texts that contain code.
            if (/(?:-page|runner-text|manager-text|starter)\.ts$/.test(file)) return [];
            // The bundler numbers names that would be there twice.
            const named = lineOf(file, entry.originalLine).includes(name.replace(/\d+$/, ''));
            return named ? [] : [`${path}: ${name} is not in ${file}:${entry.originalLine + 1}`];
          }),
        );
      });
    expect(astray).toEqual([]);
  });

  test('built-in modules are imported by their full names', () => {
    // Some versions of Node list a few under their full names.
    const bare = builtinModules
      .filter((name) => !name.startsWith('node:'))
      .map((name) => name.replaceAll('/', '\\/'))
      .join('|');
    const texts = packed
      .filter((path) => path.endsWith('.js'))
      .map((path) => [path, readFileSync(join(built, path), 'utf8')] as const);
    const imports = new RegExp(`(?:from|import|import\\(|require\\()\\s*["'](?:${bare})["']`);
    expect(texts.filter(([, text]) => imports.test(text)).map(([path]) => path)).toEqual([]);
  });

  test('every relative link of its texts leads to a file of the package', () => {
    const pages = packed.filter((path) => path.endsWith('.md'));
    const links = pages.flatMap((page) =>
      linksIn(readFileSync(join(built, page), 'utf8'))
        .filter((link) => !/^[a-z]+:|^#/i.test(link))
        .map((link) => ({
          page,
          link,
          path: posix.join(posix.dirname(page), link.split('#')[0]!),
        })),
    );
    expect(links.length).toBeGreaterThan(100);
    const missing = links.filter(({ path }) => !packed.includes(path));
    // Pictures of pages are a tenth of the package, and nobody looks at them there. A registry shows
    // those of the repository.
    const isPicture = /^docs\/images\/\w+\.png$/;
    expect(missing.filter(({ path }) => !isPicture.test(path))).toEqual([]);
    expect(missing.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('the newest section of the changelog is the version of package.json', () => {
    const [, newest] =
      /^## \[([^\]]+)\]/m.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) ?? [];
    expect(newest).toBe(manifest.version);
  });

  test('the release workflow asks for provenance', () => {
    const workflow = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
    expect(workflow).toContain('npm publish --provenance');
    expect(workflow).toContain('id-token: write');
  });

  test('the manifest asks for no provenance, which needs a public address', () => {
    expect(manifest.publishConfig).toEqual({ access: 'public' });
  });

  test('nothing runs when it is installed', () => {
    const onInstall = [
      'preinstall',
      'install',
      'postinstall',
      'prepare',
      'prepublish',
      'preprepare',
      'postprepare',
    ];
    expect(Object.keys(manifest.scripts).filter((name) => onInstall.includes(name))).toEqual([]);
  });

  test('the code of the core is there once', () => {
    const texts = readdirSync(join(built, 'dist'))
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(join(built, 'dist', name), 'utf8'));
    for (const declaration of [
      /class MisuseError\b|\bMisuseError ?= ?class\b/g,
      /class HostToolRegistry\b|\bHostToolRegistry ?= ?class\b/g,
    ]) {
      expect(
        texts.flatMap((text) => text.match(declaration) ?? []),
        String(declaration),
      ).toHaveLength(1);
    }
  });

  test('no public type is `any`', () => {
    const found = readdirSync(join(built, 'dist'))
      .filter((name) => name.endsWith('.d.ts'))
      .flatMap((name) => anyIn(name, readFileSync(join(built, 'dist', name), 'utf8')));
    expect(
      found
        .filter(({ declaration }) => !(declaration in anyAllowed))
        .map(({ at, declaration }) => `${at}: ${declaration}`),
    ).toEqual([]);
  });
});

test("the relay's container recipe installs, starts, is healthy and stops at SIGTERM", async () => {
  const image = join(work, 'image');
  mkdirSync(image);
  cpSync(join(recipe, 'relay.yaml'), join(image, 'relay.yaml'));
  const { dependencies, ...rest } = JSON.parse(
    readFileSync(join(recipe, 'package.json'), 'utf8'),
  ) as { dependencies: Record<string, string> };
  writeFileSync(
    join(image, 'package.json'),
    JSON.stringify({ ...rest, dependencies: { ...dependencies, 'host-tools': `file:${tarball}` } }),
  );
  const [npm, ...install] = wordsOf('RUN');
  expect(npm).toBe('npm');
  await run(image, 'npm', [...install, '--prefer-offline']);

  const [node, ...words] = wordsOf('ENTRYPOINT');
  expect(node).toBe('node');
  expect(existsSync(join(image, words[0] as string))).toBe(true);
  const key = 'a-key-of-the-host-with-32-letters';
  // What follows the name of an image is added to its words.
  const started = spawn(process.execPath, [...words, '--host', '127.0.0.1', '--port', '0'], {
    cwd: image,
    env: { ...environment(), RELAY_KEY: key },
  });
  let log = '';
  started.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = new Promise((resolve) => started.once('close', resolve));
  try {
    const url = await new Promise<string>((resolve, reject) => {
      started.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
      void ended.then(() => reject(new Error(log)));
    });
    const [, ...check] = wordsOf('HEALTHCHECK');
    await run(image, 'node', [...check.map((word) => word.replace('http://127.0.0.1:4040', url))]);
    const headers = { authorization: `Bearer ${key}`, host: 'relay.example.com' };
    const counts = await new Promise<number | undefined>((resolve, reject) => {
      get(`${url}/metrics`, { headers }, ({ statusCode }) => resolve(statusCode)).on(
        'error',
        reject,
      );
    });
    expect(counts).toBe(200);
  } finally {
    started.kill('SIGTERM');
  }
  expect(await ended).toBe(0);
  for (const line of log.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
}, 900_000);

describe('in an empty project', () => {
  const command = (...args: string[]) =>
    run(project, 'node', [join(project, 'node_modules/.bin/host-tools'), ...args]);

  test(
    'the command lists, calls, explains and replays; what needs a package that is not there ' +
      'says what to install, exit code 1',
    async () => {
      writeFileSync(join(project, 'tools.js'), 'export const add = ({ a, b }) => a + b;\n');
      const parameters = {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      };
      const entry = {
        name: 'add',
        description: 'Adds two numbers.',
        module: './tools.js',
        function: 'add',
        parameters,
      };
      writeFileSync(join(project, 'tools.json'), JSON.stringify({ tools: [entry] }));
      writeFileSync(join(project, 'tools.yaml'), 'tools: []\n');
      expect(await command('--version')).toBe(
        `${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`,
      );
      expect(
        JSON.parse(await command('list', '--host-tools', 'tools.json', '--json')),
      ).toMatchObject({ tools: [{ name: 'add' }] });
      expect(
        JSON.parse(
          await command('call', 'add', '--host-tools', 'tools.json', '--input', '{"a":1,"b":2}'),
        ),
      ).toMatchObject({ success: true, output: 3 });
      expect(
        JSON.parse(await command('explain', 'add', '--host-tools', 'tools.json', '--json')),
      ).toMatchObject({ visible: true });
      expect(await command('validate', 'tools.json')).toContain('tools.json');
      expect(await command('list', '--host-tools', 'tools.yaml', '--json')).toContain('"tools"');
      for (const [argv, said] of [
        [['serve', '--host-tools', 'tools.json'], 'npm install @modelcontextprotocol/server'],
        [
          ['serve', '--http', '0', '--host-tools', 'tools.json'],
          'npm install @modelcontextprotocol/server',
        ],
        [['relay', '--redis', 'redis://127.0.0.1:1'], 'npm install ioredis'],
        [
          [
            ...['worker', '--redis', 'redis://127.0.0.1:1', '--queue', 'q'],
            ...['--host-tools', 'tools.json'],
          ],
          'npm install bullmq',
        ],
      ] as const) {
        const failed = await command(...argv).catch((error: unknown) => error as Error);
        expect(failed).toMatchObject({
          message: expect.stringContaining(said),
          cause: { code: 1 },
        });
      }
    },
  );

  test('`init` writes a running project: its test, `validate`, and `serve` for MCP', async () => {
    const started = join(work, 'started');
    await run(project, 'node', [join(project, 'node_modules/.bin/host-tools'), 'init', started]);
    await run(started, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball]);
    const tested = await run(started, 'npm', ['test']);
    expect(tested).toMatch(/pass 3\b/);
    expect(tested).toMatch(/fail 0\b/);
    expect(await run(started, 'npm', ['run', 'validate'])).toContain('host-tools.yaml');

    const { mcpServers } = JSON.parse(readFileSync(join(started, '.mcp.json'), 'utf8')) as {
      mcpServers: Record<string, { command: string; args: string[] }>;
    };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        ...mcpServers.started!,
        cwd: started,
        env: environment() as Record<string, string>,
        stderr: 'ignore',
      }),
    );
    try {
      expect(client.getServerVersion()).toMatchObject({ version: manifest.version });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['deploy']);
      const call = (environment: string) =>
        client.callTool({ name: 'deploy', arguments: { service: 'web', environment } });
      expect(await call('staging')).toMatchObject({
        content: [{ type: 'text', text: '{"deployed":"web","to":"staging"}' }],
      });
      expect(await call('production')).toMatchObject({
        isError: true,
        _meta: { 'host-tools/error': { code: 'policy_denied' } },
      });
    } finally {
      await client.close();
    }
  });

  // Here, since test runners compile modules by themselves and have words of their own.
  test.each([
    [
      'a syntax error of an ES module',
      'bad.mjs',
      'export const a = 1;\nexport const b = ;\n',
      /SyntaxError: .* \(run `node --check .*bad\.mjs` for the place\)/,
    ],
    [
      'a syntax error of a CommonJS module',
      'bad.cjs',
      'exports.a = 1;\nexports.b = ;\n',
      /Unexpected token ';' \(at .*bad\.cjs:2\)/,
    ],
    [
      'an import of what is not exported',
      'links.mjs',
      '\nimport { nope } from "./fine.mjs";\n',
      /'nope' \(at .*links\.mjs:2\)/,
    ],
    [
      'an error',
      'throws.mjs',
      '\n  throw new Error("no database");\n',
      /no database \(at .*throws\.mjs:2:9\)/,
    ],
  ])(
    'a module that cannot be loaded: %s has its place, or the line that shows it',
    async (_, name, text, said) => {
      writeFileSync(join(project, 'fine.mjs'), 'export const a = 1;\n');
      writeFileSync(join(project, name), text);
      await expect(command('list', '--host-tools-module', `./${name}`)).rejects.toThrow(said);
    },
  );

  test.each([
    ['by default', []],
    ['where code generation is forbidden', ['--disallow-code-generation-from-strings']],
  ])(
    'every subpath is imported, silently, and all share one copy of the core, %s',
    async (_, flags) => {
      writeFileSync(join(project, 'inspection.js'), inspection);
      const { names, ...rest } = JSON.parse(
        await run(project, 'node', [
          ...flags,
          '--throw-deprecation',
          'inspection.js',
          ...specifiers,
        ]),
      ) as {
        names: number[];
      };
      // The class with all parts extends the one without.
      const twins = ['HostToolRegistry'];
      expect(rest).toEqual({ twins, output: 'hi', extended: true });
      expect(names).toHaveLength(specifiers.length);
      expect(Math.min(...names)).toBeGreaterThan(0);
    },
    30_000,
  );

  test('a trace under `--enable-source-maps` names the files and lines of the sources', async () => {
    writeFileSync(
      join(project, 'throws.js'),
      `import { HostToolRegistry } from 'host-tools';
      try { new HostToolRegistry({ unknown: 1 }); } catch ({ stack }) { console.log(stack); }`,
    );
    const trace = await run(project, 'node', ['--enable-source-maps', 'throws.js']);
    const frames = [
      // Of a method, its own name, without that of its class.
      ...trace.matchAll(/ at (?:new )?(?:\w+\.)*(\w+) \(.*[\\/](src[\\/][^:]+):(\d+):\d+\)$/gm),
    ].map(([, name = '', file = '', line]) => ({
      name,
      text: readFileSync(join(root, file), 'utf8').split('\n')[Number(line) - 1],
    }));
    expect(frames.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['readOptions', 'HostToolRegistry']),
    );
    // The first line makes the error, and each other one calls what is before it.
    expect(frames[0]?.text).toContain('MisuseError');
    for (const [at, { text }] of frames.slice(1).entries())
      expect(text).toMatch(new RegExp(`\\b(?:${frames[at]?.name}|super)\\(`));
  });

  test('an error that nothing catches is printed with one short line of code', async () => {
    writeFileSync(
      join(project, 'uncaught.js'),
      `import { HostToolRegistry } from 'host-tools'; new HostToolRegistry({ unknown: 1 });`,
    );
    const printed = await run(project, 'node', ['uncaught.js']).catch((error: Error) => error);
    const [code = ''] = /.*(?=\n +\^\n)/.exec(String(printed)) ?? [];
    expect(code).toContain('MisuseError');
    expect(code.length).toBeLessThan(200);
  });

  test.each(examplesOf('docs/extend.md').map((code, index) => [index + 1, code] as const))(
    'example %i of docs/extend.md runs',
    async (index, code) => {
      const { outputText } = ts.transpileModule(code, {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      });
      writeFileSync(join(project, `extend-${index}.mjs`), outputText);
      await run(project, 'node', [`extend-${index}.mjs`]);
    },
  );

  describe('an application that is bundled and run elsewhere', () => {
    const folder = (name: string): string => join(work, 'elsewhere', name);
    beforeAll(async () => {
      const options = {
        bundle: true,
        platform: 'node',
        format: 'esm',
        outfile: join(folder('alone'), 'app.mjs'),
        logLevel: 'silent',
      } as const;
      await build({ ...options, stdin: { contents: application, resolveDir: project } });
      cpSync(folder('alone'), folder('beside'), { recursive: true });
      symlinkSync(
        join(project, 'node_modules'),
        join(folder('beside'), 'node_modules'),
        'junction',
      );
    });

    test('has patterns without other packages; a zod 3 schema names the missing one', async () => {
      const told = JSON.parse(await run(folder('alone'), 'node', ['app.mjs'])) as unknown[];
      expect(told).toEqual([
        'abc',
        'policy_denied',
        'invalid_input',
        'missing_dependency',
        expect.stringContaining('install it next to the bundle'),
      ]);
      expect(told.at(-1)).toContain('`zod-to-json-schema`');
    });

    test('has schemas of zod 3 where their converter is installed beside it', async () => {
      expect(JSON.parse(await run(folder('beside'), 'node', ['app.mjs']))).toEqual([
        'abc',
        'policy_denied',
        'invalid_input',
        2,
      ]);
    });

    test('tools that trace files can see that the converter is loaded', () => {
      const texts = readdirSync(join(built, 'dist')).map((name) =>
        name.endsWith('.js') ? readFileSync(join(built, 'dist', name), 'utf8') : '',
      );
      // The bundler may break a line in the middle of a text.
      expect(texts.join('').replaceAll('\\\n', '')).toMatch(
        /const (\w+) ?= ?createRequire\(import\.meta\.url\);[^}]*?\1\("zod-to-json-schema"\)/,
      );
    });
  });

  test.each([
    ['node16', { module: 'node16', moduleResolution: 'node16', lib: ['ES2022'], types: ['node'] }],
    [
      'bundler',
      { module: 'esnext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'], types: [] },
    ],
  ])(
    'a TypeScript host compiles with moduleResolution %s, our declarations included',
    (_, options) => {
      writeFileSync(join(project, 'host.ts'), consumer);
      expect(compile(join(project, 'host.ts'), options)).toEqual([]);
    },
    60_000,
  );
});

/**
 * Runs a program to its end and returns what it printed; anything on its error output or an exit
 * code fails with both texts.
 */
/** The programs of a page, each of fewer than 60 lines. */
function examplesOf(page: string): readonly string[] {
  const all = [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)];
  return all.map(([, code = '']) => {
    expect(code.split('\n').length).toBeLessThan(60);
    return code;
  });
}

async function run(cwd: string, program: 'node' | 'npm', args: readonly string[]): Promise<string> {
  const command = program === 'node' ? process.execPath : 'npm';
  return await new Promise((resolve, reject) => {
    execFile(
      command,
      [...args],
      {
        cwd,
        env: environment(),
        shell: program === 'npm' && process.platform === 'win32',
        maxBuffer: 2 ** 26,
      },
      (error, stdout, stderr) => {
        // npm and the bundler say many things on their error output; a host's program must say
        // nothing.
        if (error === null && (program === 'npm' || cwd === built || stderr === ''))
          resolve(stdout);
        else
          reject(
            new Error(`${program} ${args.join(' ')} failed in ${cwd}\n${stdout}\n${stderr}`, {
              cause: error,
            }),
          );
      },
    );
  });
}

/** The environment without what npm and the test runner added: the child is a fresh start. */
function environment(): NodeJS.ProcessEnv {
  const ours =
    /^(npm_(package_|lifecycle_|command$|config_(local_prefix|package|prefix|global_prefix)$)|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$|VITEST)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

/** Targets of the links and pictures of a page, without those in code. */
function linksIn(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');
  return [
    ...[...prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, target]) => target!),
    ...[...prose.matchAll(/<(?:a|img|source)\b[^>]*?(?:href|src|srcset)="([^"]+)"/g)].map(
      ([, target]) => target!,
    ),
  ];
}

/**
 * Compiles one file strictly and returns what TypeScript has against it and against our
 * declarations (not against those of other packages).
 */
function compile(file: string, options: object): string[] {
  const { options: parsed, errors } = ts.convertCompilerOptionsFromJson(
    {
      target: 'ES2022',
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      typeRoots: [join(root, 'node_modules/@types')],
      ...options,
    },
    project,
  );
  const program = ts.createProgram([file], parsed);
  const ours = program
    .getSourceFiles()
    .filter(
      ({ fileName }) =>
        fileName.endsWith('/host.ts') || fileName.includes(`/node_modules/${manifest.name}/`),
    );
  const found = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
  ].concat(
    ...ours.map((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ]),
  );
  return found.map((diagnostic) =>
    ts.formatDiagnostic(diagnostic, {
      getCurrentDirectory: () => project,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    }),
  );
}

/**
 * Each `any` of a declaration file with the name of the declaration around it. The bounds of
 * generics and what `extends` compares with are no types of a host's values.
 */
function anyIn(name: string, text: string): { at: string; declaration: string }[] {
  const tree = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
  const found: { at: string; declaration: string }[] = [];
  const visit = (node: ts.Node, declaration: string): void => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) {
      found.push({
        at: `${name}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`,
        declaration,
      });
    }
    ts.forEachChild(node, (child) => {
      const bound =
        (ts.isConditionalTypeNode(node) && child === node.extendsType) ||
        (ts.isTypeParameterDeclaration(node) && child === node.constraint);
      if (!bound) visit(child, declaration);
    });
  };
  for (const statement of tree.statements) {
    const named = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations[0]?.name
      : (statement as { name?: ts.Node }).name;
    visit(statement, named?.getText(tree) ?? '');
  }
  return found;
}
