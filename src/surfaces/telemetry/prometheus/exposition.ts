/** Writes metrics in the text format of Prometheus, version 0.0.4. */

/** Names and values of labels. Values may be any text. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** A metric of one value per set of labels. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly values: readonly (readonly [labels: Labels, value: number])[];
}

/** A histogram per set of labels, of at least one label each. */
export interface HistogramMetric {
  readonly name: string;
  readonly help: string;
  readonly values: readonly {
    readonly labels: Labels;
    /** Cumulative, ascending; without `+Inf`. */
    readonly buckets: readonly { readonly le: number; readonly count: number }[];
    readonly sum: number;
    readonly count: number;
  }[];
}

/** Most characters of a label's value. */
const maxChars = 256;

export function metricText({ name, help, type, values }: Metric): string {
  let text = head(name, help, type);
  for (const [labels, value] of values) {
    const pairs = pairsOf(labels);
    text += `${name}${pairs === '' ? '' : `{${pairs}}`} ${value}\n`;
  }
  return text;
}

export function histogramText({ name, help, values }: HistogramMetric): string {
  let text = head(name, help, 'histogram');
  for (const { labels, buckets, sum, count } of values) {
    // Each label is escaped once, not once for each bucket.
    const pairs = pairsOf(labels);
    for (const { le, count: below } of buckets)
      text += `${name}_bucket{${pairs},le="${le}"} ${below}\n`;
    text += `${name}_bucket{${pairs},le="+Inf"} ${count}\n`;
    text += `${name}_sum{${pairs}} ${sum}\n${name}_count{${pairs}} ${count}\n`;
  }
  return text;
}

/**
 * The text that a label can have as its value: bounded, without lone surrogates and control
 * characters. Two texts may become the same.
 */
export function labelValue(text: string): string {
  return text.slice(0, maxChars).replace(/[\p{Surrogate}\p{Cc}]/gu, '\uFFFD');
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function pairsOf(labels: Labels): string {
  let pairs = '';
  for (const [label, text] of labels)
    pairs += `${pairs === '' ? '' : ','}${label}="${escaped(text)}"`;
  return pairs;
}

function escaped(text: string): string {
  return /[\\"\n]/.test(text) ? text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : text;
}
