/** The type tests prove what is named in them; this proves that nothing is left out. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const textOf = (path: string): string =>
  readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

/** The names that a file exports, by its syntax. */
function exportsOf(path: string): string[] {
  const source = ts.createSourceFile(path, textOf(path), ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause } = statement;
      return exportClause !== undefined && ts.isNamedExports(exportClause)
        ? exportClause.elements.map(({ name }) => name.text)
        : [];
    }
    if (
      !ts.canHaveModifiers(statement) ||
      !ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    )
      return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(source));
    return [(statement as unknown as { name: ts.Identifier }).name.text];
  });
}

const contract = exportsOf('./contract.ts');

test('every name of the contract is exported', () => {
  const exported = [...exportsOf('../../src/index.ts'), ...exportsOf('../../src/core.ts')];
  expect(contract.length).toBeGreaterThan(70);
  expect(contract.filter((name) => !exported.includes(name))).toEqual([]);
});

test('every name of the contract is proved', () => {
  const proofs = textOf('./contract.test-d.ts');
  // Branded types are the library's own in the contract, and proved where they are inferred.
  const branded = ['Content', 'Fail', 'Ok', 'ToolRef'];
  expect(
    contract.filter(
      (name) => !branded.includes(name) && !new RegExp(`\\bContract\\.${name}\\b`).test(proofs),
    ),
  ).toEqual([]);
});
