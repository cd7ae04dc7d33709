import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { choose, fill, follow, type Move, press, searchFor, select } from '../kit/pattern.ts';
import { answeredOn, located, mistaken, moved, opened, type Subgoal, stoppedAfter } from '../kit/subgoals.ts';
import {
  HELDOUT_ONLY,
  type Instance,
  instance,
  MOSTLY_HELDOUT,
  MOSTLY_TRAIN,
  outcomeOf,
  type Template,
} from '../kit/template.ts';
import { COMPANIES, dateIn, emailOf, people, pickOne } from '../kit/words.ts';
import { mailCommands } from './commands.ts';
import { FOLDERS, LABELS, type MailData, type Message } from './data.ts';

type MailTemplate = Template<MailData>;

const FIRST_PAGE = 8;
const LINES = [
  'See you on Monday',
  'The files are on their way',
  'Please call me back',
  'We accept the offer',
  'The room is booked',
  'I will be ten minutes late',
  'Lunch is at noon',
  'The keys are at the desk',
];
const SUBJECTS = [
  'Weekend plans',
  'New schedule',
  'Travel papers',
  'Open questions',
  'Launch date',
  'Team lunch',
];

/** The message that a task is about: the third instance of a template has it beyond the first page. */
function target(
  data: MailData,
  random: RandomGenerator,
  instance: number,
): { message: Message; find: readonly Move[] } {
  const index =
    instance < 2 ? random.below(FIRST_PAGE) : FIRST_PAGE + random.below(data.messages.length - FIRST_PAGE);
  const message = pickOne(random, data.messages.slice(index, index + 1));
  return { message, find: index < FIRST_PAGE ? [] : [searchFor(message.subject)] };
}

const after = (data: MailData, command: string, fields: Readonly<Record<string, string>>): MailData =>
  outcomeOf(mailCommands, data, command, fields);

type Parts = Omit<Parameters<typeof instance<MailData>>[0], 'startPath'>;
const task = (parts: Parts): Instance<MailData> => instance({ startPath: '/inbox', ...parts });

/** One press in the message's row or on its page. */
function onePress(
  name: string,
  splits: MailTemplate['splits'],
  button: string,
  say: (message: Message) => string,
  mistakes: readonly Subgoal[],
): MailTemplate {
  return {
    name,
    difficulty: 'easy',
    splits,
    instantiate: (data, random, instance) => {
      const { message, find } = target(data, random, instance);
      const page = `/message/${message.id}`;
      const move = press(button, { near: message.subject, page });
      return task({
        instruction: say(message),
        data,
        dialog: instance === 1 ? 'news' : null,
        solved: after(data, button.toLowerCase(), { id: String(message.id) }),
        moves: [...find, move],
        subgoals: [
          located(0.3, message.subject, page),
          moved('pressed', `pressed ${button} for "${message.subject}"`, 0.5, move),
          stoppedAfter(0.2, move),
          ...mistakes,
        ],
      });
    },
  };
}

const starEmail = onePress(
  'star-email',
  MOSTLY_TRAIN,
  'Star',
  (m) => `Star the email "${m.subject}" from ${m.from}.`,
  [mistaken('Archive'), mistaken('Report spam')],
);

const archiveEmail = onePress(
  'archive-email',
  MOSTLY_HELDOUT,
  'Archive',
  (m) => `Archive the email "${m.subject}" from ${m.from}.`,
  [mistaken('Archive all'), mistaken('Delete')],
);

const readFact: MailTemplate = {
  name: 'read-fact',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, instance) => {
    const { message, find } = target(data, random, instance);
    const page = `/message/${message.id}`;
    const facts = message.body.filter((line) => line.includes(': ')).map((line) => line.split(': '));
    const [label = '', value = ''] = pickOne(random, facts);
    const others = data.messages.flatMap((m) => m.body.map((line) => line.split(': ')[1] ?? ''));
    const open = follow(message.subject);
    return task({
      instruction: `Which ${label.toLowerCase()} does the email "${message.subject}" from ${message.from} name?`,
      data,
      solved: data,
      answer: { value, distractors: others.filter((other) => other !== '' && other !== value) },
      moves: [...find, open],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.5, page),
        answeredOn(0.5, page),
        mistaken('Archive'),
      ],
    });
  },
};

const deleteEmail: MailTemplate = {
  name: 'delete-email',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, instance) => {
    const { message, find } = target(data, random, instance);
    const page = `/message/${message.id}`;
    const confirm = press('Delete email');
    return task({
      instruction: `Delete the email "${message.subject}" from ${message.from}.`,
      data,
      solved: after(data, 'delete', { id: String(message.id) }),
      moves: [...find, follow(message.subject), press('Delete', { page }), confirm],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.3, page),
        moved('asked', 'pressed Delete there', 0.2, press('Delete', { near: message.subject, page })),
        moved('confirmed', 'confirmed the deletion', 0.3, confirm),
        stoppedAfter(0.2, confirm),
        mistaken('Report spam'),
        mistaken('Archive all'),
      ],
    });
  },
};

const labelEmail: MailTemplate = {
  name: 'label-email',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, instance) => {
    const { message, find } = target(data, random, instance);
    const page = `/message/${message.id}`;
    const label = pickOne(random, LABELS);
    const choice = select('Label', label);
    const add = press('Add label');
    return task({
      instruction: `Add the label "${label}" to the email "${message.subject}" from ${message.from}.`,
      data,
      solved: after(data, 'add-label', { id: String(message.id), label }),
      moves: [...find, follow(message.subject), choice, add],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.3, page),
        moved('chose', `chose the label ${label}`, 0.3, choice),
        moved('added', 'pressed Add label', 0.2, add),
        stoppedAfter(0.2, add),
        mistaken('Report spam'),
      ],
    });
  },
};

const moveEmail: MailTemplate = {
  name: 'move-email',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, instance) => {
    const { message, find } = target(data, random, instance);
    const page = `/message/${message.id}`;
    const folder = pickOne(random, FOLDERS);
    const ask = press('Move to folder');
    const confirm = press('Move');
    return task({
      instruction: `Move the email "${message.subject}" to the folder "${folder}".`,
      data,
      solved: after(data, 'move', { id: String(message.id), folder }),
      moves: [...find, follow(message.subject), ask, choose(folder), confirm],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.2, page),
        moved('asked', 'pressed Move to folder', 0.2, ask),
        moved('chose', `chose the folder ${folder}`, 0.2, choose(folder)),
        moved('moved', 'pressed Move', 0.2, confirm),
        stoppedAfter(0.2, confirm),
        mistaken('Report spam'),
        mistaken('Delete email'),
      ],
    });
  },
};

const replyEmail: MailTemplate = {
  name: 'reply-email',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, instance) => {
    const { message, find } = target(data, random, instance);
    const page = `/message/${message.id}`;
    const text = pickOne(random, LINES);
    const send = press('Send');
    return task({
      instruction: `Reply to the email "${message.subject}" from ${message.from} with the message "${text}".`,
      data,
      solved: after(data, 'reply', { id: String(message.id), message: text }),
      moves: [...find, follow(message.subject), follow('Reply'), fill('Message', text), send],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.2, page),
        opened('reply', 'opened the reply form', 0.2, `${page}/reply`),
        moved('wrote', 'wrote the message', 0.2, fill('Message', text)),
        moved('sent', 'pressed Send', 0.2, send),
        stoppedAfter(0.2, send),
        mistaken('Delete email'),
      ],
    });
  },
};

const sendEmail: MailTemplate = {
  name: 'send-email',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, instance) => {
    const to = pickOne(random, data.contacts).email;
    const subject = pickOne(random, SUBJECTS);
    const text = pickOne(random, LINES);
    const send = press('Send');
    return task({
      instruction: `Compose an email to ${to} with the subject "${subject}" and the message "${text}", and send it.`,
      data,
      dialog: instance === 1 ? 'news' : null,
      solved: after(data, 'send', { to, subject, message: text }),
      moves: [follow('Compose'), fill('To', to), fill('Subject', subject), fill('Message', text), send],
      subgoals: [
        opened('compose', 'opened a new email', 0.2, '/compose'),
        moved('to', 'entered the recipient', 0.2, fill('To', to)),
        moved('subject', 'entered the subject', 0.15, fill('Subject', subject)),
        moved('message', 'wrote the message', 0.15, fill('Message', text)),
        moved('sent', 'pressed Send', 0.15, send),
        stoppedAfter(0.15, send),
      ],
    });
  },
};

const addContact: MailTemplate = {
  name: 'add-contact',
  difficulty: 'hard',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const known = data.contacts.map((contact) => contact.name);
    const name = pickOne(
      random,
      people(random, 20).filter((other) => !known.includes(other)),
    );
    const company = pickOne(random, COMPANIES);
    const email = emailOf(name, company);
    const phone = `555-${1000 + random.below(9000)}`;
    const save = press('Save contact');
    return task({
      instruction: `Add a new contact with the name "${name}", the email address ${email}, the phone number "${phone}" and the company "${company}".`,
      data,
      solved: after(data, 'save-contact', { name, email, phone, company }),
      moves: [
        follow('Contacts'),
        follow('New contact'),
        fill('Name', name),
        fill('Email address', email),
        fill('Phone number', phone),
        fill('Company', company),
        save,
      ],
      subgoals: [
        opened('contacts', 'opened the contacts', 0.1, '/contacts'),
        opened('form', 'opened the form for a new contact', 0.2, '/contact/new'),
        moved('name', 'entered the name', 0.15, fill('Name', name)),
        moved('email', 'entered the email address', 0.15, fill('Email address', email)),
        moved('phone', 'entered the phone number', 0.1, fill('Phone number', phone)),
        moved('company', 'entered the company', 0.1, fill('Company', company)),
        moved('saved', 'pressed Save contact', 0.1, save),
        stoppedAfter(0.1, save),
        mistaken('Delete contact'),
      ],
    });
  },
};

const setVacation: MailTemplate = {
  name: 'set-vacation',
  difficulty: 'hard',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const firstDay = dateIn(random, 6, 8);
    const subject = pickOne(random, ['Out of office', 'On vacation', 'Away this week', 'Back soon']);
    const message = pickOne(random, [
      'I answer when I return',
      'I am at the sea',
      'I am hiking without a phone',
    ]);
    const save = press('Save changes');
    return task({
      instruction: `Turn the vacation responder "On" with the first day ${firstDay}, the subject "${subject}" and the message "${message}".`,
      data,
      solved: after(data, 'save-vacation', { responder: 'On', 'first-day': firstDay, subject, message }),
      moves: [
        follow('Settings'),
        follow('Vacation'),
        choose('On'),
        fill('First day', firstDay),
        fill('Subject', subject),
        fill('Message', message),
        save,
      ],
      subgoals: [
        opened('settings', 'opened the settings', 0.1, '/settings'),
        opened('vacation', 'opened the vacation settings', 0.2, '/settings/vacation'),
        moved('on', 'turned the responder on', 0.15, choose('On')),
        moved('day', 'entered the first day', 0.15, fill('First day', firstDay)),
        moved('subject', 'entered the subject', 0.1, fill('Subject', subject)),
        moved('message', 'wrote the message', 0.1, fill('Message', message)),
        moved('saved', 'pressed Save changes', 0.1, save),
        stoppedAfter(0.1, save),
        mistaken('Delete account'),
      ],
    });
  },
};

const createFilter: MailTemplate = {
  name: 'create-filter',
  difficulty: 'hard',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const from = pickOne(random, data.contacts).email;
    const words = pickOne(random, ['quarterly figures', 'shipping notice', 'board meeting', 'price list']);
    const label = pickOne(random, LABELS);
    const create = press('Create filter');
    return task({
      instruction: `Create a filter for emails from ${from} that has the words "${words}" and adds the label "${label}".`,
      data,
      solved: after(data, 'create-filter', { from, words, label }),
      moves: [
        follow('Settings'),
        follow('Filters'),
        fill('From', from),
        fill('Has the words', words),
        select('Label', label),
        create,
      ],
      subgoals: [
        opened('settings', 'opened the settings', 0.1, '/settings'),
        opened('filters', 'opened the filters', 0.2, '/settings/filters'),
        moved('from', 'entered the sender', 0.15, fill('From', from)),
        moved('words', 'entered the words', 0.15, fill('Has the words', words)),
        moved('label', 'chose the label', 0.15, select('Label', label)),
        moved('created', 'pressed Create filter', 0.15, create),
        stoppedAfter(0.1, create),
        mistaken('Delete'),
      ],
    });
  },
};

const forwardEmail: MailTemplate = {
  name: 'forward-email',
  difficulty: 'medium',
  splits: HELDOUT_ONLY,
  instantiate: (data, random, instance) => {
    const { message, find } = target(data, random, instance);
    const page = `/message/${message.id}`;
    const to = pickOne(random, data.contacts).email;
    const send = press('Send');
    return task({
      instruction: `Forward the email "${message.subject}" from ${message.from} to ${to}.`,
      data,
      solved: after(data, 'forward', { id: String(message.id), to, message: '' }),
      moves: [...find, follow(message.subject), follow('Forward'), fill('To', to), send],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.2, page),
        opened('forward', 'opened the forwarding form', 0.2, `${page}/forward`),
        moved('to', 'entered the recipient', 0.2, fill('To', to)),
        moved('sent', 'pressed Send', 0.2, send),
        stoppedAfter(0.2, send),
      ],
    });
  },
};

export const mailTemplates: readonly MailTemplate[] = [
  starEmail,
  archiveEmail,
  readFact,
  deleteEmail,
  labelEmail,
  moveEmail,
  replyEmail,
  sendEmail,
  addContact,
  setVacation,
  createFilter,
  forwardEmail,
];
