import { z } from 'zod';
import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { COMPANIES, dateIn, dollars, emailOf, people, pickOne } from '../kit/words.ts';

export const FOLDERS = ['Projects', 'Receipts', 'Clients'];
export const LABELS = ['Finance', 'Travel', 'Urgent', 'Family'];
export const DENSITIES = ['Comfortable', 'Compact'];
export const NOTIFICATIONS = ['All emails', 'Important only', 'None'];

const messageSchema = z.strictObject({
  id: z.int(),
  /** Where it lies: `Inbox`, `Archive`, `Trash`, `Spam`, `Sent` or one of the folders. */
  folder: z.string(),
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  /** Lines; `Label: value` lines are shown as a list of facts. */
  body: z.array(z.string()),
  date: z.string(),
  starred: z.boolean(),
  read: z.boolean(),
  labels: z.array(z.string()),
});
export type Message = z.infer<typeof messageSchema>;

const contactSchema = z.strictObject({
  id: z.int(),
  name: z.string(),
  email: z.string(),
  phone: z.string(),
  company: z.string(),
});
export type Contact = z.infer<typeof contactSchema>;

const filterSchema = z.strictObject({ id: z.int(), from: z.string(), words: z.string(), label: z.string() });

export const mailSchema = z.strictObject({
  messages: z.array(messageSchema),
  contacts: z.array(contactSchema),
  filters: z.array(filterSchema),
  general: z.strictObject({ signature: z.string(), density: z.string(), notifications: z.string() }),
  vacation: z.strictObject({
    responder: z.enum(['On', 'Off']),
    firstDay: z.string(),
    subject: z.string(),
    message: z.string(),
  }),
  /** False once the account has been deleted. */
  account: z.boolean(),
});
export type MailData = z.infer<typeof mailSchema>;

interface Topic {
  readonly subject: string;
  readonly facts: (random: RandomGenerator) => string[];
}

const amount = (random: RandomGenerator): string => dollars(2000 + random.below(90000));
const code = (random: RandomGenerator, prefix: string): string => `${prefix}-${1000 + random.below(9000)}`;

const TOPICS: readonly Topic[] = [
  {
    subject: 'Invoice for',
    facts: (r) => [`Total: ${amount(r)}`, `Due date: ${dateIn(r, 4, 6)}`, `Reference: ${code(r, 'INV')}`],
  },
  {
    subject: 'Booking of',
    facts: (r) => [
      `Price: ${amount(r)}`,
      `Check-in: ${dateIn(r, 7, 9)}`,
      `Confirmation code: ${code(r, 'BKG')}`,
    ],
  },
  { subject: 'Minutes of', facts: (r) => [`Next meeting: ${dateIn(r, 4, 6)}`, `Room: ${10 + r.below(80)}`] },
  { subject: 'Proposal for', facts: (r) => [`Budget: ${amount(r)}`, `Deadline: ${dateIn(r, 5, 8)}`] },
  { subject: 'Questions about', facts: (r) => [`Meeting: ${dateIn(r, 4, 5)}`, `Ticket: ${code(r, 'TCK')}`] },
];
const THINGS = [
  'spring campaign',
  'office move',
  'garden party',
  'website redesign',
  'team retreat',
  'harbour tour',
  'annual report',
  'kitchen repair',
  'product launch',
  'summer school',
  'design review',
  'budget plan',
];
const GREETINGS = [
  'Thanks for your patience.',
  'I hope this finds you well.',
  'As promised, here are the details.',
];

function message(random: RandomGenerator, id: number, from: Contact, subject: string, topic: Topic): Message {
  return {
    id,
    folder: 'Inbox',
    from: from.name,
    to: 'me',
    subject,
    body: [pickOne(random, GREETINGS), ...topic.facts(random)],
    date: dateIn(random, 1, 3),
    starred: false,
    read: random.below(3) > 0,
    labels: [],
  };
}

const INBOX_SIZE = 20;

export function seedMail(random: RandomGenerator): MailData {
  const contacts = people(random, 10).map((name, index): Contact => {
    const company = pickOne(random, COMPANIES);
    const phone = `555-01${10 + random.below(90)}-${1000 + random.below(9000)}`;
    return { id: index + 1, name, email: emailOf(name, company), phone, company };
  });
  const subjects = random.shuffle(
    TOPICS.flatMap((topic) => THINGS.map((thing) => ({ topic, subject: `${topic.subject} ${thing}` }))),
  );
  const messages = subjects
    .slice(0, INBOX_SIZE)
    .map(({ topic, subject }, index) =>
      message(random, index + 11, pickOne(random, contacts), subject, topic),
    );
  return {
    messages,
    contacts,
    filters: [{ id: 1, from: 'newsletter@oakline.example', words: 'weekly digest', label: 'Family' }],
    general: { signature: 'Best regards', density: 'Comfortable', notifications: 'All emails' },
    vacation: { responder: 'Off', firstDay: '', subject: '', message: '' },
    account: true,
  };
}
