/** Reads as much of the query language of Prometheus as the page of alerts uses. */

/** A metric that an expression asks for. */
export interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

export interface Query {
  readonly selectors: readonly Selector[];
  /** Labels of `by (…)`. */
  readonly by: readonly string[];
}

const functions = ['sum', 'rate', 'increase', 'absent', 'histogram_quantile'];
const operators = ['and', 'or', 'unless', '/', '>'];
const token = /\s*([a-z_]\w*|\d+(?:\.\d+)?[smhd]?|"[^"]*"|=~|[(){}[\],=/>])/y;

/** @throws for anything else */
export function readQuery(text: string): Query {
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.trimEnd().length) {
    const at = token.lastIndex;
    const [, found] = token.exec(text) ?? [];
    if (found === undefined) throw new Error(`Not understood: ${text.slice(at)}`);
    tokens.push(found);
  }
  const selectors: Selector[] = [];
  const by: string[] = [];
  const next = (wanted: RegExp): string => {
    const found = tokens.shift() ?? 'the end';
    if (!wanted.test(found)) throw new Error(`Expected ${wanted}, got ${found}.`);
    return found;
  };
  const took = (wanted: string): boolean => tokens[0] === wanted && tokens.shift() !== undefined;
  const list = (item: () => void): void => {
    do item();
    while (took(','));
  };
  const operand = (): void => {
    if (/^\d/.test(tokens[0] ?? '')) return void next(/^\d+(?:\.\d+)?$/);
    const name = next(/^[a-z_]\w*$/);
    if (functions.includes(name)) {
      if (took('by')) {
        next(/^\($/);
        list(() => by.push(next(/^[a-z_]\w*$/)));
        next(/^\)$/);
      }
      next(/^\($/);
      list(query);
      return void next(/^\)$/);
    }
    const labels: string[] = [];
    if (took('{')) {
      list(() => {
        labels.push(next(/^[a-z_]\w*$/));
        next(/^=~?$/);
        next(/^"/);
      });
      next(/^\}$/);
    }
    if (took('[')) {
      next(/^\d+[smhd]$/);
      next(/^\]$/);
    }
    if (took('offset')) next(/^\d+[smhd]$/);
    selectors.push({ name, labels });
  };
  function query(): void {
    operand();
    while (operators.includes(tokens[0] ?? '')) {
      tokens.shift();
      operand();
    }
  }
  query();
  if (tokens.length > 0) throw new Error(`Expected the end, got ${tokens.join(' ')}.`);
  return { selectors, by };
}
