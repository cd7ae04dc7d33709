import { choose, fill, follow, press, select } from '../kit/pattern.ts';
import { mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { COMPANIES, dateIn, emailOf, people, pickOne } from '../kit/words.ts';
import { LABELS } from './data.ts';
import { after, type MailTemplate } from './target.ts';

export const addContact: MailTemplate = {
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
    return {
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
    };
  },
};

export const setVacation: MailTemplate = {
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
    return {
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
    };
  },
};

export const createFilter: MailTemplate = {
  name: 'create-filter',
  difficulty: 'hard',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const from = pickOne(random, data.contacts).email;
    const words = pickOne(random, ['quarterly figures', 'shipping notice', 'board meeting', 'price list']);
    const label = pickOne(random, LABELS);
    const create = press('Create filter');
    return {
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
    };
  },
};
