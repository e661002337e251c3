//! The words around secrets, as data: names of secrets in several languages, words that tell prose and code from a value,
//! and programs that take a password.
//!
//! What a list means is said above it; who uses it decides what follows. Words are split at blanks, and at `;` where an
//! item may have a blank in it. All are compared in whatever case.

/// How sure a name is.
#[derive(Clone, Copy, PartialEq)]
pub enum Sure {
    /// Its value is a secret, and what follows it without more ado may be one: `password hunter2`.
    Password,
    /// Its value is a secret.
    Secret,
    /// Its value is a secret if it looks random.
    Maybe,
}
use Sure::{Maybe, Password, Secret};

/// Names of secrets, the longer first. A blank stands for `_`, `-`, `.`, a blank, or nothing; anything may stand before a
/// name: `DB_PASSWORD`, `Datenbankpasswort`.
#[rustfmt::skip]
pub const NAMES: &[(&str, Sure)] = &[
    ("password", Password), ("passphrase", Password), ("passcode", Password), ("passwort", Password),
    ("kennwort", Password), ("mot de passe", Password), ("contraseña", Password), ("contrasena", Password),
    ("senha", Password), ("wachtwoord", Password), ("pw", Password),
    ("passwd", Secret), ("pwd", Secret), ("secret", Secret), ("token", Secret), ("bearer", Secret),
    (AUTHORIZATION, Secret), ("identified by", Password), ("storepass", Secret), ("keypass", Secret),
    ("api key", Secret), ("access key", Secret), ("secret key", Secret), ("private key", Secret),
    ("account key", Secret), ("auth key", Secret), ("signing key", Secret), ("encryption key", Secret),
    ("master key", Secret), ("db pass", Secret), ("user pass", Secret), ("admin pass", Secret), ("root pass", Secret),
    ("smtp pass", Secret), ("mail pass", Secret), ("redis pass", Secret), ("mysql pass", Secret), ("ssh pass", Secret),
    ("ftp pass", Secret), ("geheimnis", Secret), ("api schlüssel", Secret), ("zugangsschlüssel", Secret),
    ("clé api", Secret), ("clé secrète", Secret), ("clé d'api", Secret), ("clave api", Secret),
    ("clave de api", Secret), ("clave secreta", Secret), ("secreto", Secret), ("chiave api", Secret),
    ("key", Maybe), ("pass", Maybe), ("credentials", Maybe), ("credential", Maybe), ("creds", Maybe), ("auth", Maybe),
    ("session", Maybe), ("session id", Maybe), ("sessid", Maybe), ("sid", Maybe), (COOKIE, Maybe),
    ("signature", Maybe), ("connection string", Maybe), ("schlüssel", Maybe), ("zugangsdaten", Maybe), ("clé", Maybe),
    ("jeton", Maybe), ("identifiants", Maybe), ("clave", Maybe), ("credenciales", Maybe), ("chave", Maybe),
    ("chiave", Maybe), ("sleutel", Maybe),
];
/// The name whose value is a list of pairs.
pub const COOKIE: &str = "cookie";

/// The name whose value begins with a scheme.
pub const AUTHORIZATION: &str = "authorization";
pub const SCHEMES: &str = "bearer basic token apikey api-key key bot";
/// What follows a scheme where people talk about it.
pub const TALK: &str = "token tokens auth authentication authorization header headers scheme";

/// What makes no secret of a `key`.
pub const KNOWN_TO_ALL: &str =
    "public ;primary ;foreign ;sort ;partition ;cache ;hash ;map ;index ;group ;host ;unique ;object ;mon;hot ";

/// Names whose value is often a path, and how paths begin.
pub const NAMES_OF_PATHS: &[&str] = &["pwd", "private key"];
pub const PATHS: &[&str] = &["/", "~/", "./", "../", "C:\\"];

/// What links a name to its value in a sentence: `the password for staging is …`, `das Passwort lautet …`.
pub const LINKS: &str = "is was -> → – — - ist war lautet heißt est était es era è é";
/// A link that needs a verb before the name: `set the password to …`.
pub const LINKS_AFTER_VERB: &str = "to auf à en a";
pub const VERBS: &str = "set reset change changed changing update updated rotate rotated setze setz ändere mets change \
    changer cambia cambiar pon";

/// How a sentence goes on: a value that is one of these, with another word after it, is none.
pub const PROSE: &str = "a an the this that these those it its they he she i we you my your our their there here \
    is are was were be been has have had do does did don doesn isn can cannot could will would won should must may \
    might not no never only just also still now then so or and but if when while where which who what why how because \
    since before after until in on at by to of for from with without into as than all any each every some one two both \
    please let add fix use make check update remove refresh rotate change set get see expected unexpected found got \
    read stored loaded comes fetched generated sent passed taken kept provided supplied derived hashed encrypted saved \
    handled managed validated expires reset implement support handle move rename validate verify store always \
    der die das den dem des ein eine einen wir ich sie er es ist sind wird werden wurde muss müssen soll sollte kann darf \
    nicht kein keine aus im am zum zur mit ohne von bei für siehe bitte und oder aber wenn \
    le la les un une des il elle on nous vous est sont sera doit peut pas ne dans sur par pour avec sans du au voir et ou si \
    el los las uno una es son está debe puede se no en por para con sin del al ver y o que hay";

/// What may stand for a value without being one: nothing, formats, types, statements, and flags spoken of.
pub const CODE: &str = "null none nil undefined true false yes no empty %s %v %d %q %r %w %@ \
    string str &str &string &mut & bytes bytearray char varchar text int integer number bool boolean any unknown void \
    object option optional vec box required readonly const static secretstr secretstring impl dyn \
    await async new function fn func lambda return break throw typeof yield !ref !sub !getatt !vault !secret !env \
    flag flags options argument arguments parameter missing expired invalid n/a tbd todo hidden masked";

/// How a placeholder begins.
pub const PLACEHOLDERS: &[&str] = &["your-", "your_", "your ", "replace", "insert", "enter-", "enter_"];

/// Words with digits in them that only look random.
pub const TECHNICAL: &str = "sha256 sha384 sha512 base64 base64url base58 ed25519 rs256 hs256 es256 aes128 aes256 pbkdf2 \
    argon2id argon2 oauth2 uint256 uint64 int64 uint32 int32 float64 erc721 erc1155 python3 v1beta1 v1alpha1 v2beta2 rsa2048 rsa4096 \
    blake2b blake3 secp256k1 x25519 pkcs12 iso8601 rfc7519 rfc6749 rfc6750 amd64 arm64 varchar2 utf8mb4 md5crypt sha1sum";
pub const UNITS: &str = "bytes byte bits bit chars characters kb mb gb ms sec min hours days times tokens";

/// How a program takes its password.
pub enum Form {
    /// `-pPASSWORD`, for `-p` alone asks.
    Attached,
    /// `-p PASSWORD`, and also attached.
    Argument,
    /// After this mark in the argument: `-U user%PASSWORD`.
    After(&'static str),
}

/// Programs that take a password, their flags for it, and how. A program of several words has all of them.
#[rustfmt::skip]
pub const PROGRAMS: &[(&str, &str, Form)] = &[
    ("mysql;mysqldump;mysqladmin;mysqlimport;mysqlsh;mariadb;mariadb-dump;mycli;7z;7za;rar", "-p", Form::Attached),
    ("sshpass;mongo;mongosh;mongodump;mongorestore;mongoexport;mongoimport;cqlsh;rdesktop;evil-winrm", "-p", Form::Argument),
    ("docker login;podman login;helm login;skopeo login;buildah login;nerdctl login;oras login;az login;oc login", "-p", Form::Argument),
    ("sqlcmd;bcp;zip;unzip;mosquitto_pub;mosquitto_sub;ipmitool", "-P", Form::Argument),
    ("redis-cli;valkey-cli;keydb-cli", "-a --pass", Form::Argument),
    ("ldapsearch;ldapadd;ldapmodify;ldapdelete;ldappasswd;ldapwhoami", "-w", Form::Argument),
    ("plink;pscp;psftp", "-pw", Form::Argument),
    ("openssl", "-passin -passout -pass", Form::After("pass:")),
    ("smbclient;rpcclient;smbget;net", "-U --user", Form::After("%")),
    ("lftp", "-u --user", Form::After(",")),
    ("curl;wget", "-b --cookie", Form::After("=")),
];

/// Programs that read a password from their input, and what stands before it there.
pub const READERS: &[(&str, &str)] = &[
    ("sudo -S;sudo --stdin", ""),
    ("chpasswd", ":"),
    ("passwd --stdin;--password-stdin;--with-token;--passphrase-fd;smbpasswd -s;cryptsetup;kinit", ""),
    ("secret set;secret put", ""),
];
