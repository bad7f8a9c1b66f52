/** A picture, which the bundler turns into an address with its content. */
declare module '*.svg' {
  const address: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports it like this.
  export default address;
}
