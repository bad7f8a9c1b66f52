/**
 * The workflow, and the tool sets that it computes with, have no clock, no randomness and no I/O:
 * what could reach them is not in its sources.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import {
  codingAgentPreset,
  createWorkflow,
  planBatch,
  replay,
  reduce as step,
  type WorkflowEvent,
  writeTrace,
} from '../../../src/surfaces/workflow/index.ts';
import { observe, settle, workflow } from './events.ts';

const folders = ['surfaces/workflow', 'core/toolset'].map((name) =>
  fileURLToPath(new URL(`../../../src/${name}/`, import.meta.url)),
);
const files = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));

/**
 * Globals by which a module would see the time, chance or the world. `Math` is allowed, its
 * `random` is not.
 */
const worldly =
  /^(Date|performance|process|globalThis|crypto|fetch|setTimeout|setInterval|setImmediate|queueMicrotask|require|WebSocket|XMLHttpRequest|navigator|Intl|Bun|Deno)$/;
const allowedBuiltins: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': ['createHash'],
};

describe.each(files.map((file) => [file.slice(file.indexOf('/src/') + 1), file] as const))(
  '%s',
  (_, file) => {
    const tree = ts.createSourceFile(
      file,
      readFileSync(file, 'utf8'),
      ts.ScriptTarget.ES2022,
      true,
    );
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) {
        const member = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
        if (worldly.test(node.text) && !member) found.push(node.text);
        if (member && node.parent.getText(tree) === 'Math.random') found.push('Math.random');
        if (member && /^(localeCompare|toLocale\w*)$/.test(node.text)) found.push(node.text);
      }
      if (
        ts.isImportDeclaration(node) &&
        ts.isStringLiteral(node.moduleSpecifier) &&
        !node.moduleSpecifier.text.startsWith('.')
      ) {
        const bindings = node.importClause?.namedBindings;
        const imported =
          bindings !== undefined && ts.isNamedImports(bindings)
            ? bindings.elements.map(({ name }) => name.text)
            : ['*'];
        const allowed = allowedBuiltins[node.moduleSpecifier.text] ?? [];
        found.push(
          ...imported
            .filter((name) => !allowed.includes(name))
            .map((name) => `${name} of ${(node.moduleSpecifier as ts.StringLiteral).text}`),
        );
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);

    test('reaches no clock, no randomness, no locale and no I/O', () => {
      expect(found).toEqual([]);
    });
  },
);

test('the reducer, planner and trace work the same without clock and randomness', () => {
  const events: WorkflowEvent[] = [
    { type: 'run_requested' },
    observe(['a', 'read'], ['b', 'exec']),
    settle('a'),
    settle('b'),
    { type: 'run_completed' },
  ];
  const before = writeTrace(workflow(), events);
  const { Date: RealDate, Math: RealMath } = globalThis;
  const gone = (): never => {
    throw new Error('The workflow asked for the time or for chance.');
  };
  let after: string;
  try {
    globalThis.Date = class {
      constructor() {
        gone();
      }
      static now = gone;
    } as unknown as DateConstructor;
    globalThis.Math = Object.assign(Object.create(RealMath), { random: gone });
    expect(
      step(createWorkflow(codingAgentPreset()), { type: 'run_requested' }).error,
    ).toBeUndefined();
    planBatch([{ id: 'a', name: 'read' }], [{ name: 'read' }]);
    replay(workflow(), events);
    after = writeTrace(workflow(), events);
  } finally {
    globalThis.Date = RealDate;
    globalThis.Math = RealMath;
  }
  expect(after).toBe(before);
});
