//! The words around secrets, as data: what links a name to its value, and what tells prose and code from a value.
//!
//! What a list means is said above it; who uses it decides what follows. Words are split at blanks, and at `;` where an
//! item may have a blank in it. All are compared in whatever case.

use super::text::Words;

/// The schemes that the value of a header begins with.
pub static SCHEMES: Words =
    Words::new("bearer basic token apikey api-key key bot splunk geniekey sso-key sharedkey hawk klaviyo-api-key");
/// What follows a scheme where people talk about it.
pub static TALK: Words = Words::new("token tokens auth authentication authorization header headers scheme");

/// What makes no secret of a `key`.
pub const KNOWN_TO_ALL: &[&str] = &[
    "public ",
    "primary ",
    "foreign ",
    "sort ",
    "partition ",
    "cache ",
    "hash ",
    "map ",
    "index ",
    "group ",
    "host ",
    "unique ",
    "object ",
    "mon",
    "hot ",
];

/// What stands before a name that has no value here: it is asked for, made up, or only named.
pub const ASKED_OR_NAMED: &[&str] = &["--ask-", "--prompt-", "random_", "existing"];

/// Names whose value is often a path, and how paths begin.
pub const NAMES_OF_PATHS: &[&str] = &["pwd", "private key"];
pub const PATHS: &[&str] = &["/", "~/", "./", "../", "C:\\"];

/// What links a name to its value in a sentence: `the password for staging is …`, `das Passwort lautet …`.
pub static LINKS: Words = Words::new(
    "is was are be = c'est luidt -> → – — - ist war sind lautet heißt est était sont es era son è é são sono zijn jest to: это",
);
/// Links of languages that write no blanks, right after the name.
pub const LINKS_ATTACHED: &[&str] = &["は", "が", "是", "为", "為", "은", "는", "："];
/// What may follow a link.
pub const NOW: &[&str] = &[" now", " currently", " jetzt", " maintenant", " ahora", " agora", " adesso", " nu"];
/// What links a value to the name after it: `… is the password`, `… as the password`.
pub static LINKS_BACK: Words = Words::new("is as = ist als est comme es como è come é jest");
/// What may stand between such a link and the name.
pub static ARTICLES: Words = Words::new(
    "the a my your our his her new old admin root db database api user default test das der die \
    mein dein unser neue le la mon ton notre votre el mi tu su o minha sua il mio tuo het de mijn",
);
/// A link that needs a verb before the name: `set the password to …`.
pub static LINKS_AFTER_VERB: Words = Words::new("to from auf von à de en a");
pub static VERBS: Words = Words::new(
    "set reset change changed changing update updated rotate rotated setze setz ändere mets change \
    changer cambia cambiar pon",
);
/// Words of people who tell how to log in.
pub const LOGGING_IN: &[&str] = &[
    "log in",
    "login",
    "log into",
    "sign in",
    "credential",
    "creds",
    "anmeld",
    "einlogg",
    "connexion",
    "conecta",
    "ssh ",
    "ssid",
    "wifi",
    "wlan",
    "account",
];
/// What may follow a name and belongs to it: `secret_key_base`.
pub static SUFFIXES: Words =
    Words::new("base prod production dev staging live test old new main backup local value data plain");
/// Names of a user, before the name of a password.
pub const USERS: &[&str] = &["user", "username", "login", "benutzer", "usuario", "usuário", "utilisateur", "utente"];
/// Lines in which a word after `password` is one: `machine h login bob password x`.
pub const DIRECTIVES: &[&str] = &["machine ", "nmcli ", "default login "];
/// What a dotted path begins with that is code: `process.env.X`.
pub static ROOTS: Words = Words::new(
    "process env os config cfg conf settings this self import secrets var vars local locals data module \
    ctx context req request res options opts props params args app deno bun environ state store github steps inputs needs \
    values vault input event parent super session.token env.vars",
);

/// Calls that make a value of a text in quotes.
pub const WRAPPERS: &[&str] = &[
    "[]byte(",
    "Buffer.from(",
    "Secret(",
    "SecretStr(",
    "SecretString::from(",
    "SecretString::new(",
    "Some(",
    "String(",
    "String::from(",
    "bytes(",
    "str(",
];

/// How a sentence goes on: a value that is one of these, with another word after it, is none.
pub static PROSE: Words = Words::new(
    "a an the this that these those it its they he she i we you my your our their there here \
    is are was were be been has have had do does did don doesn isn can cannot could will would won should must may \
    might not no never only just also still now then so or and but if when while where which who what why how because \
    since before after until in on at by to of for from with without into as than all any each every some one two both \
    please let ask add fix use make check update remove refresh rotate change set get see expected unexpected found got \
    read stored loaded comes fetched generated sent passed taken kept provided supplied derived hashed encrypted saved \
    handled managed validated expires reset implement support handle move rename validate verify store always \
    try match switch unless \
    der die das den dem des ein eine einen wir ich sie er es ist sind wird werden wurde muss müssen soll sollte kann darf \
    nicht kein keine aus im am zum zur mit ohne von bei für siehe bitte und oder aber wenn \
    le la les un une des il elle on nous vous est sont sera doit peut pas ne dans sur par pour avec sans du au voir et ou si \
    el los las uno una es son está debe puede se no en por para con sin del al ver y o que hay \
    é são está deve precisa pode será foi não na um uma com sem ao em já \
    il lo gli deve può viene sarà è non nel della per che \
    het een moet kan mag wordt werd niet geen met zonder van voor zijn \
    musi może jest nie zostanie będzie dla oraz \
    должен должна должно нужно можно надо не это в на для из от с и или если",
);

/// What may stand for a value without being one: nothing, formats, types, statements, and flags spoken of.
pub static CODE: Words = Words::new(
    "null none nil undefined true false yes no empty %s %v %d %q %r %w %@ \
    string str &str &string &mut & bytes bytearray char charsequence varchar text int integer number bool boolean any unknown void \
    object option optional vec box required readonly const static secretstr secretstring impl dyn \
    await async new function fn func lambda return break throw typeof yield !ref !sub !getatt !vault !secret !env \
    flag flags options argument arguments parameter value val key shift missing expired invalid n/a tbd todo hidden masked \
    wrong correct incorrect needed optional fehlt falsch ungültig abgelaufen erforderlich leer manquant requis obligatoire \
    invalide incorrecte expiré vide requerida requerido obligatorio obligatoria incorrecta incorrecto inválida inválido \
    caducado vacía vacío obrigatório obrigatória incorreta expirada expirado vazia richiesta obbligatoria obbligatorio errata \
    scaduta scaduto vuota vereist verplicht ongeldig onjuist verlopen leeg wymagane błędne nieprawidłowe puste \
    обязателен обязательно неверный неверен истёк истек",
);

/// How a placeholder begins.
pub const PLACEHOLDERS: &[&str] = &[
    "your-",
    "your_",
    "your ",
    "replace",
    "insert",
    "enter-",
    "enter_",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
];

/// Words with digits in them that only look random.
pub static TECHNICAL: Words = Words::new(
    "sha256 sha384 sha512 base64 base64url base58 ed25519 rs256 hs256 es256 aes128 aes256 pbkdf2 \
    argon2id argon2 oauth2 uint256 uint64 int64 uint32 int32 float64 erc721 erc1155 python3 v1beta1 v1alpha1 v2beta2 rsa2048 rsa4096 \
    blake2b blake3 secp256k1 x25519 pkcs12 iso8601 rfc7519 rfc6749 rfc6750 amd64 arm64 varchar2 utf8mb4 md5crypt sha1sum",
);
pub static UNITS: Words =
    Words::new("bytes byte bits bit chars characters kb mb gb ms sec min hours days times tokens");
