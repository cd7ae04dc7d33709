/**
 * METHOD 1.2 step 5: what stands in a path key for one decoded segment. The first test that holds wins;
 * digits and letters are ASCII.
 */
export function templateSegment(segment: string): string {
  if (/^[0-9]+$/.test(segment)) return ':n';
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(segment)) return ':uuid';
  if (/^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$/.test(segment)) return ':date';
  if (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(segment)) return ':email';
  if (/^[0-9a-f]{8,}$/i.test(segment) && hasDigit(segment)) return ':hex';
  if (/^[A-Za-z0-9_-]{16,}$/.test(segment) && isMixed(segment) && tokens(segment) <= 2) return ':id';
  const numbered = /^([A-Za-z]{1,12})[-_]?[0-9]{2,}$/.exec(segment);
  if (numbered) return `${numbered[1]?.toLowerCase()}:n`;
  if (/^[A-Za-z0-9]{5,}$/.test(segment) && isMixed(segment) && !/^[A-Za-z]+[0-9]$/.test(segment))
    return ':id';
  if (/^[A-Za-z0-9_-]{12,}$/.test(segment) && upperTurns(segment) >= 4) return ':id';
  if (/^.+-[0-9]{4,}$/s.test(segment)) return ':slug';
  if (tokens(segment) >= 4 || [...segment].length >= 32) return ':slug';
  return segment.toLowerCase();
}

const hasDigit = (text: string): boolean => /[0-9]/.test(text);
const isMixed = (text: string): boolean => hasDigit(text) && /[A-Za-z]/.test(text);
const tokens = (text: string): number => text.split(/[-_]/).filter((token) => token !== '').length;
const upperTurns = (text: string): number => (text.match(/[a-z][A-Z]/g) ?? []).length;
