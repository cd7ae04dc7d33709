import { fill, follow, press } from '../kit/pattern.ts';
import { mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { HELDOUT_ONLY, MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { pickOne } from '../kit/words.ts';
import { after, type MailTemplate, target } from './target.ts';

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

export const replyEmail: MailTemplate = {
  name: 'reply-email',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, instance) => {
    const { message, page, find } = target(data, random, instance);
    const text = pickOne(random, LINES);
    const send = press('Send');
    return {
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
    };
  },
};

export const sendEmail: MailTemplate = {
  name: 'send-email',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, instance) => {
    const to = pickOne(random, data.contacts).email;
    const subject = pickOne(random, SUBJECTS);
    const text = pickOne(random, LINES);
    const send = press('Send');
    return {
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
    };
  },
};

export const forwardEmail: MailTemplate = {
  name: 'forward-email',
  difficulty: 'medium',
  splits: HELDOUT_ONLY,
  instantiate: (data, random, instance) => {
    const { message, page, find } = target(data, random, instance);
    const to = pickOne(random, data.contacts).email;
    const send = press('Send');
    return {
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
    };
  },
};
