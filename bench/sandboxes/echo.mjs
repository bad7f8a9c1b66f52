/** The handler: as little as one can do. Tinypool and the executors run the same file. */
export default ({ city, days }) => ({ city, degrees: days + 18 });
