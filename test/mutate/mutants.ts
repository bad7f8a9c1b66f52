/**
 * Makes mutants of a source file: each one changes a single expression or takes a single statement
 * away.
 */
import ts from 'typescript';

export interface Mutant {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly was: string;
  readonly becomes: string;
}

const { SyntaxKind } = ts;

const operators = new Map<ts.SyntaxKind, readonly string[]>([
  [SyntaxKind.EqualsEqualsEqualsToken, ['!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['===']],
  [SyntaxKind.LessThanToken, ['<=', '>=']],
  [SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
  [SyntaxKind.AmpersandAmpersandToken, ['||']],
  [SyntaxKind.BarBarToken, ['&&']],
  [SyntaxKind.PlusToken, ['-']],
  [SyntaxKind.MinusToken, ['+']],
  [SyntaxKind.AsteriskToken, ['/']],
  [SyntaxKind.SlashToken, ['*']],
  [SyntaxKind.PercentToken, ['*']],
  [SyntaxKind.PlusEqualsToken, ['-=']],
  [SyntaxKind.MinusEqualsToken, ['+=']],
  [SyntaxKind.QuestionQuestionEqualsToken, ['=']],
]);

const comparisons = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.LessThanToken,
  SyntaxKind.LessThanEqualsToken,
  SyntaxKind.GreaterThanToken,
  SyntaxKind.GreaterThanEqualsToken,
  SyntaxKind.InstanceOfKeyword,
  SyntaxKind.InKeyword,
]);

const opposites = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);

/** The mutants of a source text, in the order of the text. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const mutants: Mutant[] = [];

  const change = (node: ts.Node, becomes: string): void => {
    const start = node.getStart(source);
    const was = text.slice(start, node.end);
    if (was !== becomes)
      mutants.push({
        file,
        line: source.getLineAndCharacterOfPosition(start).line + 1,
        start,
        end: node.end,
        was,
        becomes,
      });
  };

  const visit = (node: ts.Node): void => {
    if (
      ts.isTypeNode(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isImportDeclaration(node)
    )
      return;
    mutate(node);
    ts.forEachChild(node, visit);
  };

  const mutate = (node: ts.Node): void => {
    if (ts.isIfStatement(node)) bothWays(node.expression);
    else if (ts.isWhileStatement(node) || ts.isDoStatement(node)) never(node.expression);
    else if (ts.isForStatement(node) && node.condition !== undefined) never(node.condition);
    else if (ts.isConditionalExpression(node)) bothWays(node.condition);
    else if (ts.isBinaryExpression(node)) binary(node);
    else if (ts.isPrefixUnaryExpression(node)) unary(node);
    else if (ts.isPostfixUnaryExpression(node)) step(node);
    else if (node.kind === SyntaxKind.TrueKeyword) change(node, 'false');
    else if (node.kind === SyntaxKind.FalseKeyword) change(node, 'true');
    else if (ts.isNumericLiteral(node)) change(node, String(Number(node.text) + 1));
    else if (
      ts.isExpressionStatement(node) ||
      ts.isThrowStatement(node) ||
      ts.isContinueStatement(node)
    )
      removed(node);
    else if (ts.isReturnStatement(node) && node.expression === undefined) removed(node);
    else if (ts.isCallExpression(node)) call(node);
  };

  const literal = (node: ts.Node): boolean =>
    node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword;

  const bothWays = (condition: ts.Expression): void => {
    if (literal(condition)) return;
    change(condition, 'true');
    change(condition, 'false');
  };

  const never = (condition: ts.Expression): void => {
    if (!literal(condition)) change(condition, 'false');
  };

  const binary = (node: ts.BinaryExpression): void => {
    const { left, operatorToken, right } = node;
    if (operatorToken.kind === SyntaxKind.QuestionQuestionToken) {
      change(node, left.getText(source));
      change(node, right.getText(source));
      return;
    }
    const joinsText = [left, right].some(
      (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
    );
    if (!joinsText)
      for (const other of operators.get(operatorToken.kind) ?? []) change(operatorToken, other);
    const decides =
      (ts.isIfStatement(node.parent) && node.parent.expression === node) ||
      (ts.isConditionalExpression(node.parent) && node.parent.condition === node) ||
      ((ts.isWhileStatement(node.parent) || ts.isDoStatement(node.parent)) &&
        node.parent.expression === node) ||
      (ts.isForStatement(node.parent) && node.parent.condition === node);
    if (!decides && comparisons.has(operatorToken.kind)) bothWays(node);
  };

  const unary = (node: ts.PrefixUnaryExpression): void => {
    if (node.operator === SyntaxKind.ExclamationToken) change(node, node.operand.getText(source));
    else step(node);
  };

  const step = (node: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression): void => {
    if (node.operator !== SyntaxKind.PlusPlusToken && node.operator !== SyntaxKind.MinusMinusToken)
      return;
    const was = node.getText(source);
    change(
      node,
      node.operator === SyntaxKind.PlusPlusToken
        ? was.replace('++', '--')
        : was.replace('--', '++'),
    );
  };

  const removed = (node: ts.Node): void => {
    // A call of `super` cannot be left out.
    if (!node.getText(source).startsWith('super(')) change(node, ';');
  };

  const call = (node: ts.CallExpression): void => {
    if (!ts.isPropertyAccessExpression(node.expression)) return;
    const { name } = node.expression;
    const [argument] = node.arguments;
    if (node.expression.getText(source) === 'Object.freeze' && argument !== undefined)
      change(node, `(${argument.getText(source)})`);
    const opposite = opposites.get(name.text);
    if (opposite !== undefined) change(name, opposite);
  };

  visit(source);
  return mutants.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** The source text with one mutant in it. */
export function mutated(text: string, { start, end, becomes }: Mutant): string {
  return text.slice(0, start) + becomes + text.slice(end);
}
