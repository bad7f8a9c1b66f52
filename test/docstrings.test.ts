/**
 * What an editor shows on hovering a name is the page most read: each public name and each member
 * of it says something. Exempt are members whose type is one literal, never or undefined
 * (discriminants: the type around them tells the cases apart), members named by a symbol (phantoms:
 * they carry types, no values), and those of a type literal on one line: the comment on what it is
 * the type of speaks of them.
 */
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { entries, examplesOn, exportsOf, isValue, lineOf } from './docs/exports.ts';

test.each(entries)(
  'every export of %s, and every member of it, has a TSDoc comment',
  (_, entry) => {
    const exported = exportsOf(entry);
    expect(exported).not.toEqual([]);
    const silent = exported.flatMap(({ path, name, declarations }) => {
      expect(declarations, `${name} is declared in ${path}`).not.toEqual([]);
      return [
        ...(declarations.some(speaks) ? [] : declarations.slice(0, 1)),
        ...declarations.flatMap(membersOf).filter((member) => !speaks(member)),
      ];
    });
    expect(silent.map(placeOf)).toEqual([]);
  },
);

// `docs.test.ts` compiles the examples.
describe('an `@example` is in the comment of', () => {
  test.each(entries)('every function, class and constant that %s exports', (_, entry) => {
    const without = exportsOf(entry)
      .filter(isValue)
      .filter(({ declarations }) => declarations.flatMap(examplesOn).length === 0);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  test.each([
    ['HostToolRegistry', ['register', 'createSession', 'defineProfile', 'scope']],
    ['ToolSession', ['tools', 'executeBatch', 'explain', 'use']],
    ['Approvals', ['resume']],
  ])('the first members of %s that a host calls: %s', (type, names) => {
    const { declarations = [] } = exportsOf('src/index.ts').find(({ name }) => name === type) ?? {};
    const members = declarations.flatMap(membersOf);
    for (const name of names) {
      const found = members.filter((one) => (one as ts.MethodSignature).name.getText() === name);
      expect(found.flatMap(examplesOn), `${type}.${name}`).toHaveLength(1);
    }
  });

  test('the signature of `session.call` that takes an input, where an editor looks for it', () => {
    const { declarations = [] } =
      exportsOf('src/index.ts').find(({ name }) => name === 'CallTool') ?? {};
    const signatures = declarations.flatMap((node) =>
      ts.isInterfaceDeclaration(node) ? node.members.filter(ts.isCallSignatureDeclaration) : [],
    );
    expect(signatures.filter((one) => !speaks(one))).toEqual([]);
    expect(signatures.flatMap(examplesOn)).toHaveLength(1);
  });
});

/** Members of an interface, a class or a type's literals, at any depth; of overloads the first. */
function membersOf(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (child: ts.Node): void => {
    if (
      ts.isBlock(child) ||
      ts.isParameter(child) ||
      (ts.isTypeLiteralNode(child) && !child.getText().includes('\n'))
    )
      return;
    if ((ts.isTypeElement(child) || ts.isClassElement(child)) && isPublic(child)) found.push(child);
    ts.forEachChild(child, visit);
  };
  if (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node)
  )
    ts.forEachChild(node, visit);
  return found.filter(
    (member, index) =>
      !found
        .slice(0, index)
        .some((earlier) => earlier.parent === member.parent && isSame(earlier, member)),
  );
}

function isSame(one: ts.Node, other: ts.Node): boolean {
  const [a, b] = [one, other].map((node) => (node as { name?: ts.Node } & ts.Node).name?.getText());
  return a !== undefined && a === b;
}

function isPublic(member: ts.TypeElement | ts.ClassElement): boolean {
  if (!member.name || ts.isPrivateIdentifier(member.name) || ts.isComputedPropertyName(member.name))
    return false;
  if (
    ts.canHaveModifiers(member) &&
    ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
  )
    return false;
  return !(
    ts.isPropertySignature(member) &&
    member.type &&
    (ts.isLiteralTypeNode(member.type) || /^(never|undefined)$/.test(member.type.getText()))
  );
}

/**
 * Whether a comment says something in words: tags alone are not shown as a description. A blank
 * line between a comment and a declaration makes it the head of the file.
 */
function speaks(node: ts.Node): boolean {
  const decided = ts
    .getJSDocCommentsAndTags(node)
    .filter((found) => ts.isJSDoc(found) && found.comment !== undefined);
  return decided.some(
    ({ end }) => !/\n\s*\n/.test(node.getSourceFile().text.slice(end, node.getStart())),
  );
}

function placeOf(node: ts.Node): string {
  return `${lineOf(node)}: ${node.getText().split('\n', 1)[0]}`;
}
