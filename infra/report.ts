/** Takes one line about what takes time, for a person to read. */
export type Report = (line: string) => void;

export const silent: Report = () => {};
